import type { AddedToken } from "../../../runtime/tokenizer/packed/packed-settings.ts";
import type { CommonJson } from "./tokenizer-json.ts";

/**
 * Returns the added tokens with the ids that Rust's `add_tokens` gives them, which ignores the file's: the vocabulary's id of
 * a token, or the next free one.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs
 *
 * @param size of the vocabulary; larger than the map where a token is in the file twice
 */
export function addedTokens(
  { added_tokens }: Pick<CommonJson, "added_tokens">,
  vocabulary: ReadonlyMap<string, number>,
  size = vocabulary.size,
): AddedToken[] {
  const known = new Map(vocabulary);
  const byId = new Map<number, AddedToken>();
  let next = size;
  for (const { content, normalized, single_word: singleWord, lstrip, rstrip } of added_tokens) {
    if (content === "") continue;
    const id = known.get(content) ?? next++;
    known.set(content, id);
    byId.set(id, { id, content, normalized, singleWord, lstrip, rstrip });
  }
  return [...byId.values()];
}

/** Whether Rust's tokenizers load these added tokens: normalized, none may be empty or equal to another. */
export const areUsable = (normalized: readonly string[]): boolean =>
  !normalized.includes("") && new Set(normalized).size === normalized.length;
