import type { AddedToken } from "../../../runtime/tokenizer/packed/packed-file.ts";
import type { BertTokenizer } from "./bert-tokenizer.ts";

/**
 * Added tokens with the ids that `add_tokens` gives them, whatever the file says: the vocabulary's, or the next free one.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs
 */
export function addedTokens({ added_tokens, model: { vocab } }: BertTokenizer): AddedToken[] {
  const known = new Map(Object.entries(vocab));
  const byId = new Map<number, AddedToken>();
  let next = known.size;
  for (const { content, normalized, single_word: singleWord, lstrip, rstrip } of added_tokens) {
    if (content === "") continue;
    const id = known.get(content) ?? next++;
    known.set(content, id);
    byId.set(id, { id, content, normalized, singleWord, lstrip, rstrip });
  }
  return [...byId.values()];
}
