import { BertEdgeError } from "../../artifact/error.ts";
import type { EmbedManifest } from "../../artifact/manifest.ts";
import type { TokenIds, TokenSequence } from "../engine/engine.ts";
import { idsOf } from "../engine/token-sequence.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Truncation } from "../truncation.ts";
import type { Encode } from "./task-call.ts";

/**
 * Returns how a call encodes texts with prompts that are not pooled; no function for models that pool them.
 *
 * @param promptAt prompt of an input, by the input's index
 */
export function encodeUnpooled(
  manifest: EmbedManifest,
  truncate: Truncation,
  promptAt: (index: number) => string,
): Encode | undefined {
  if (manifest.poolsPrompt !== false) return undefined;
  const unpooled = unpooledPrompts(manifest);
  return (tokenizer, input, index) => {
    const ids = idsOf(inputEncoder(tokenizer, manifest, truncate)(input, index));
    return unpooled(tokenizer, promptAt(index), [ids]);
  };
}

type PooledFrom = Pick<EmbedManifest, "name" | "poolsPrompt" | "maxTokens">;

/**
 * Returns a function that marks the tokens of a text's prompt, if the model does not pool them. It counts the tokens of each prompt
 * once, and throws BertEdgeError `input_too_long` for a prompt that leaves no room for a token of the text.
 */
export function unpooledPrompts(manifest: PooledFrom) {
  const known = new Map<string, number>();
  return (tokenizer: Tokenizer, prompt: string, sequences: TokenIds[]): TokenSequence[] => {
    if (manifest.poolsPrompt !== false || prompt === "") return sequences;
    const tokens = known.get(prompt) ?? tokensOfPrompt(tokenizer, prompt, manifest);
    known.set(prompt, tokens);
    return withoutPrompt(sequences, tokens);
  };
}

/**
 * Counts the tokens at the beginning of a text that are its prompt's, as sentence-transformers does: encodes the prompt alone, and
 * leaves a special token at its end out.
 *
 * @returns the number of tokens, special tokens before the prompt included
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
    `The prompt ${JSON.stringify(prompt.slice(0, 60))} has as many tokens as ${name} accepts (${maxTokens}): no token of a text is left.`,
    { hint: "Choose another prompt, or prepare the model with a shorter prompt or longer texts." },
  );
