import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import type { Truncation } from "../truncation.ts";

/** The part of a manifest that decides which prompts there are. */
interface Prompted extends Pick<Manifest, "task"> {
  readonly prompts?: Readonly<Record<string, string>> | undefined;
  readonly defaultPrompt?: string | undefined;
  /** How a model for late interaction reads queries and documents. Its texts have a side, which a prompt does not choose. */
  readonly protocol?: object | undefined;
}

type PromptedModel = Prompted & Pick<Manifest, "name">;

export interface PromptedParameters {
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: Truncation | undefined;
  /** Name of the prompt that is put before each text. Default: the model's default prompt, which most models do not have. */
  readonly prompt?: string | undefined;
}

/** Prompts of a search. All encoders have them, as in sentence-transformers 5 and 6. They are empty if the authors do not name them. */
export const unnamedPrompts: Readonly<Record<string, string>> = { query: "", document: "" };

/** Returns a model's prompts by name. */
export function promptsOf({ task, prompts = {}, protocol }: Prompted): Readonly<Record<string, string>> {
  const isEncoder = task === "embed" || task === "sparse" || (task === "token-vectors" && !protocol);
  return isEncoder ? { ...unnamedPrompts, ...prompts } : prompts;
}

/**
 * Returns what is put before texts.
 *
 * @param name name of a prompt. Default: the model's default prompt, which most models do not have
 * @throws BertEdgeError `prompt_unknown`
 */
export function promptOf(model: PromptedModel, name = model.defaultPrompt): string {
  if (name === undefined) return "";
  const prompts = promptsOf(model);
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  const known = Object.keys(prompts);
  const shown = JSON.stringify(name.slice(0, 80));
  throw new BertEdgeError("prompt_unknown", `The model ${model.name} has no prompt ${shown}.`, {
    hint: `${known.length > 0 ? `Its prompts: ${known.join(", ")}.` : "It has no prompts: leave the name out."}${
      model.protocol ? " Say with `side` whether a text is a query or a document." : ""
    }`,
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
export const searchPrompts = (manifest: PromptedModel): { readonly query: string; readonly document: string } => ({
  query: promptOf(manifest, searchPromptName(manifest, "query")),
  document: promptOf(manifest, searchPromptName(manifest, "document")),
});

export const withPrompt = (prompt: string, texts: readonly string[]): readonly string[] =>
  prompt === "" ? texts : texts.map((text) => prompt + text);
