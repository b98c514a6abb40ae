import { nextTurn } from "../artifact/next-turn.ts";
import { totalLength } from "../artifact/total-length.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import type { Model } from "../runtime/model.ts";

/** Characters per part: about 3 ms of tokenizing. */
const PART_CHARACTERS = 64_000;

/** Whether texts are tokenized in more than one part. */
export const hasParts = (texts: readonly string[]): boolean => texts.length > 1 && totalLength(texts) > PART_CHARACTERS;

/**
 * Tokenizes the texts of a request. Lets other requests run between the parts of a large one.
 *
 * @throws BertEdgeError `input_too_long` unless `truncate` is set; the reason of the signal when the caller has gone
 */
export async function tokenizeInParts(
  model: Pick<Model, "tokenize">,
  texts: readonly string[],
  { truncate, signal }: { truncate: boolean; signal?: AbortSignal | undefined },
): Promise<TokenIds[]> {
  const all: TokenIds[] = [];
  while (all.length < texts.length) {
    if (all.length > 0) await nextTurn();
    signal?.throwIfAborted();
    const firstIndex = all.length;
    let end = firstIndex;
    for (let room = PART_CHARACTERS; end < texts.length && room > 0; end++) room -= texts[end]?.length ?? 0;
    all.push(...model.tokenize(texts.slice(firstIndex, end), { truncate, firstIndex }));
  }
  return all;
}
