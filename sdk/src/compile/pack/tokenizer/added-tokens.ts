import type { AddedToken } from "../../../runtime/tokenizer/packed/packed-settings.ts";
import type { CommonJson } from "./tokenizer-json.ts";

/**
 * Returns the added tokens with the ids that Rust's `add_tokens` gives them. It ignores the ids in the file: a token gets
 * its id in the vocabulary, or the next free id.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs
 *
 * @param size entries in the file's vocabulary; more than in the map if the file lists a token twice
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

/** Whether Rust's tokenizers load these added tokens: after normalization, all must be different and none empty. */
export const areUsable = (normalized: readonly string[]): boolean =>
  !normalized.includes("") && new Set(normalized).size === normalized.length;
