import type { AddedToken } from "../../../runtime/tokenizer/packed/packed-header.ts";
import type { Common } from "./tokenizer-json.ts";

/**
 * Added tokens with the ids that `add_tokens` gives them, whatever the file says: the vocabulary's, or the next free one.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs
 *
 * @param size of the vocabulary: more than its words where one is in it twice
 */
export function addedTokens(
  { added_tokens }: Pick<Common, "added_tokens">,
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

/** Rust's tokenizers do not load with added tokens that are nothing, or the same as another, once they are normalized. */
export const areUsable = (normalized: readonly string[]): boolean =>
  !normalized.includes("") && new Set(normalized).size === normalized.length;
