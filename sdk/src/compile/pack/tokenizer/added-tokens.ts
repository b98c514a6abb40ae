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
 * Whether Hugging Face's Rust tokenizers load added tokens with these normalized texts: all texts must be different,
 * and none may be empty.
 */
export const areUsable = (normalized: readonly string[]): boolean =>
  !normalized.includes("") && new Set(normalized).size === normalized.length;
