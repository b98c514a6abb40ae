import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import type { Truncation } from "../truncation.ts";

/** Models that were trained with prompts. */
interface Prompted extends Pick<Manifest, "name"> {
  readonly prompts?: Readonly<Record<string, string>> | undefined;
  readonly defaultPrompt?: string | undefined;
}

export interface PromptedParameters {
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: Truncation | undefined;
  /** Name of the prompt that is put before each text. Default: the model's default prompt, which most models do not have. */
  readonly prompt?: string | undefined;
}

/**
 * Returns what is put before texts.
 *
 * @param name name of a prompt. Default: the model's default prompt, which most models do not have
 * @throws BertEdgeError `prompt_unknown`
 */
export function promptOf({ name: model, prompts = {}, defaultPrompt }: Prompted, name = defaultPrompt): string {
  if (name === undefined) return "";
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  const known = Object.keys(prompts);
  throw new BertEdgeError("prompt_unknown", `The model ${model} has no prompt ${JSON.stringify(name.slice(0, 80))}.`, {
    hint: known.length > 0 ? `Its prompts: ${known.join(", ")}.` : "It has no prompts: leave the name out.",
  });
}

/** Names of prompts for documents, the usual one first, as in `encode_document` of sentence-transformers. */
const documentPrompts = ["document", "passage", "corpus"];

/**
 * Returns the name of the prompt of a search's texts, as `encode_query` and `encode_document` of sentence-transformers choose it.
 *
 * @returns undefined if the model has no prompt for this side, not even an empty one, as those of the catalogue. They have no default
 *   prompt that could stand in
 */
export function searchPromptName(manifest: Prompted, side: "query" | "document"): string | undefined {
  const names = side === "query" ? [side] : documentPrompts;
  return names.find((name) => manifest.prompts?.[name] !== undefined);
}

/** Returns the prompts of a search. */
export const searchPrompts = (manifest: Prompted): { readonly query: string; readonly document: string } => ({
  query: promptOf(manifest, searchPromptName(manifest, "query")),
  document: promptOf(manifest, searchPromptName(manifest, "document")),
});

export const withPrompt = (prompt: string, texts: readonly string[]): readonly string[] =>
  prompt === "" ? texts : texts.map((text) => prompt + text);
