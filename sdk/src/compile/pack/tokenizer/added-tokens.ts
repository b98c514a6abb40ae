import type { AddedToken } from "../../../runtime/tokenizer/packed/packed-settings.ts";
import type { CommonJson } from "./tokenizer-json.ts";

/**
 * Returns the added tokens with the ids that `add_tokens` in Hugging Face's Rust tokenizers gives them. The ids in
 * tokenizer.json are ignored: a token of the vocabulary keeps its id, any other token gets the next free id.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs
 *
 * @param size number of entries in the file's vocabulary; larger than `vocabulary.size` if the file lists a token twice
 */
export function addedTokens(
  { added_tokens }: Pick<CommonJson, "added_tokens">,
  vocabulary: ReadonlyMap<string, number>,
  size = vocabulary.size,
): AddedToken[] {
  const known = new Map(vocabulary);
  const byId = new Map<number, AddedToken>();
  let next = size;
  for (const { content, single_word: singleWord, ...flags } of added_tokens) {
    if (content === "") continue;
    const id = known.get(content) ?? next++;
    known.set(content, id);
    byId.set(id, { id, content, singleWord, ...flags });
  }
  return [...byId.values()];
}

/**
 * Returns the added tokens as they occur in normalized texts; undefined if Hugging Face's Rust tokenizers would not load them.
 *
 * @param size see `addedTokens`
 */
export function normalizedTokens(
  json: Pick<CommonJson, "added_tokens">,
  vocabulary: ReadonlyMap<string, number>,
  normalize: (text: string) => string,
  size?: number,
): AddedToken[] | undefined {
  const added = addedTokens(json, vocabulary, size).map((token) =>
    token.normalized ? { ...token, content: normalize(token.content) } : token,
  );
  return areUsable(added.filter(({ normalized }) => normalized).map(({ content }) => content)) ? added : undefined;
}

/**
 * Whether Hugging Face's Rust tokenizers load added tokens with these normalized texts: all texts must be different,
 * and none may be empty.
 */
export const areUsable = (normalized: readonly string[]): boolean =>
  !normalized.includes("") && new Set(normalized).size === normalized.length;
