import { totalLength } from "../../artifact/total-length.ts";
import type { TokenIds } from "../engine/engine.ts";
import type { Side } from "../truncation.ts";
import type { PlacedTokens } from "./tokenizer.ts";
import type { PlacedContent } from "./tokenizer-parts.ts";

/** Returns how many tokens of a text must be read to keep `room` tokens: all, if the text is cut at its left. */
export const tokensToRead = (room: number, side: Side): number => (side === "left" ? Number.POSITIVE_INFINITY : room);

/** Cuts a text to at most `room` tokens. `side` is the end at which tokens are removed. */
export const cut = (ids: readonly number[], room: number, side: Side): readonly number[] =>
  side === "left" ? ids.slice(Math.max(0, ids.length - room)) : ids.slice(0, room);

/** Joins special tokens and parts of texts. */
export function joined(parts: readonly (readonly number[])[]): TokenIds {
  const ids = new Int32Array(totalLength(parts));
  let end = 0;
  for (const part of parts) {
    ids.set(part, end);
    end += part.length;
  }
  return ids;
}

/** Puts special tokens around a part of a text. */
export function placedTokens(
  before: readonly number[],
  { ids, spans, words, spelled }: PlacedContent,
  { start, end }: { readonly start: number; readonly end: number },
  after: readonly number[],
): PlacedTokens {
  const all = joined([before, ids.slice(start, end), after]);
  const offsets = new Int32Array(2 * all.length);
  offsets.set(spans.slice(2 * start, 2 * end), 2 * before.length);
  const wordIds = new Int32Array(all.length).fill(-1);
  wordIds.set(words.slice(start, end), before.length);
  if (!spelled) return { ids: all, offsets, words: wordIds };
  const lengths = new Int32Array(all.length);
  lengths.set(spelled.slice(start, end), before.length);
  return { ids: all, offsets, words: wordIds, spelled: lengths };
}
