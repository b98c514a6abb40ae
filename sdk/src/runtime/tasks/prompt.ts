import { BertEdgeError } from "../../artifact/error.ts";
import type { EmbedManifest, Manifest } from "../../artifact/manifest.ts";
import type { TokenIds, TokenSequence } from "../engine/engine.ts";
import { idsOf } from "../engine/token-sequence.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Truncation } from "../truncation.ts";
import type { SearchRole } from "./late-interaction.ts";
import type { Encode, ModelOutput } from "./task-call.ts";

/** The part of a manifest that decides which prompts a model has. */
interface Prompted extends Pick<Manifest, "task"> {
  readonly prompts?: Readonly<Record<string, string>> | undefined;
  readonly defaultPrompt?: string | undefined;
  /** Rules by which a model reads queries and documents. With them, callers choose one of both by `side`, not by a prompt. */
  readonly protocol?: object | undefined;
}

type PromptedModel = Prompted & Pick<Manifest, "name">;

/** Empty prompts for a search. All encoders have them if their authors give no other ones, as in sentence-transformers 5 and 6. */
export const unnamedPrompts: Readonly<Record<string, string>> = { query: "", document: "" };

/** Returns a model's prompts by name. */
export function promptsOf({ task, prompts = {}, protocol }: Prompted): Readonly<Record<string, string>> {
  const isEncoder = task === "embed" || task === "sparse" || (task === "token-vectors" && !protocol);
  return isEncoder ? { ...unnamedPrompts, ...prompts } : prompts;
}

/**
 * Returns the prompt that is put before texts.
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
    hint: [
      { remove: "prompt_name" },
      ...(known.length > 0 ? [{ set: "prompt_name", among: known }] : []),
      ...(model.protocol ? ["say with `side` whether a text is a query or a document"] : []),
    ],
  });
}

/** Names of prompts for documents, the usual one first, as in `encode_document` of sentence-transformers. */
const documentPrompts = ["document", "passage", "corpus"];

/**
 * Returns the name of the prompt for a search's queries or documents, as sentence-transformers' `encode_query` and `encode_document`
 * choose it.
 *
 * @returns undefined if the model has no prompt for this side, not even an empty one. Then `promptOf` takes the model's default prompt,
 *   if it has one
 */
export function searchPromptName(manifest: Prompted, side: SearchRole): string | undefined {
  const names = side === "query" ? [side] : documentPrompts;
  return names.find((name) => manifest.prompts?.[name] !== undefined);
}

/** Returns the prompts of a search. */
export const searchPrompts = (manifest: PromptedModel): Readonly<Record<SearchRole, string>> => ({
  query: promptOf(manifest, searchPromptName(manifest, "query")),
  document: promptOf(manifest, searchPromptName(manifest, "document")),
});

export const withPrompt = (prompt: string, texts: readonly string[]): readonly string[] =>
  prompt === "" ? texts : texts.map((text) => prompt + text);

/**
 * Returns the encoder of a call whose prompts are not pooled; undefined for models that pool prompts.
 *
 * @param promptAt prompt of an input, by the input's index
 */
export const unpooledEncoder = (
  manifest: EmbedManifest,
  truncate: Truncation,
  promptAt: (index: number) => string,
): ((tokenizer: Tokenizer) => Encode<ModelOutput>) | undefined =>
  manifest.poolsPrompt === false
    ? (tokenizer) => {
        const encode = inputEncoder(tokenizer, manifest, truncate);
        const unpooled = unpooledPrompts(manifest, tokenizer);
        return (input, index) => ({ sequences: unpooled(promptAt(index), [idsOf(encode(input, index))]) });
      }
    : undefined;

type PooledFrom = Pick<EmbedManifest, "name" | "poolsPrompt" | "maxTokens">;

/**
 * Returns a function that marks the tokens of a text's prompt, if the model does not pool them. It counts the tokens of each prompt
 * once, and throws BertEdgeError `input_too_long` for a prompt that leaves no room for a token of the text.
 */
export function unpooledPrompts(manifest: PooledFrom, tokenizer: Tokenizer) {
  const known = new Map<string, number>();
  return (prompt: string, sequences: TokenIds[]): TokenSequence[] => {
    if (manifest.poolsPrompt !== false || prompt === "") return sequences;
    const tokens = known.get(prompt) ?? tokensOfPrompt(tokenizer, prompt, manifest);
    known.set(prompt, tokens);
    return withoutPrompt(sequences, tokens);
  };
}

/**
 * Counts the tokens of a prompt at the beginning of a text, as sentence-transformers does: encodes the prompt alone, and leaves out
 * a special token at its end.
 *
 * @returns the number of tokens, including special tokens before the prompt
 * @throws BertEdgeError `input_too_long` if the prompt leaves no room for a token of the text
 */
function tokensOfPrompt(tokenizer: Tokenizer, prompt: string, { name, maxTokens }: PooledFrom): number {
  const { ids, tokens } = tokenizer.encode(prompt, maxTokens);
  if (tokens >= maxTokens) throw promptTooLong(name, prompt, maxTokens);
  return tokenizer.vocabulary.isSpecial(ids.at(-1) as number) ? ids.length - 1 : ids.length;
}

/**
 * Marks the tokens of a text's prompt, so that they are not pooled. At least one token is pooled.
 *
 * @param sequences parts of the text, the first of which begins with the prompt
 */
export function withoutPrompt(sequences: readonly TokenIds[], promptTokens: number): TokenSequence[] {
  let left = promptTokens;
  return sequences.map((ids) => {
    const pooledFrom = Math.min(left, ids.length - 1);
    left = 0;
    return { ids, pooledFrom };
  });
}

const promptTooLong = (name: string, prompt: string, maxTokens: number): BertEdgeError =>
  new BertEdgeError(
    "input_too_long",
    `The prompt ${JSON.stringify(prompt.slice(0, 60))} has at least as many tokens as ${name} accepts (${maxTokens}): no token of a text is left.`,
    { hint: "Choose a shorter prompt, or prepare the model with one, or for longer texts." },
  );
