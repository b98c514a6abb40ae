import type { Side } from "../truncation.ts";
import { longestFirst } from "./longest-first.ts";
import type { PairTokens } from "./pair-tokens.ts";
import { cut, joined, tokensToRead } from "./sequences.ts";
import type { TextReader } from "./text-reader.ts";
import type { EncodedPair } from "./tokenizer.ts";

interface Around {
  readonly pair: PairTokens;
  readonly reader: TextReader;
  readonly maxTokens: number;
  readonly side: Side;
}

/**
 * Returns a function that encodes the pair of a text and another text. Long texts are read only as far as truncation needs. If
 * texts are cut at the right, it is usually enough to know whether each text has more than `room` tokens. Only if both have more and
 * `room` is odd, the longer text must be found, because it keeps one token more. Then the tokens of the text with fewer characters are
 * counted, and the other text is read until it has more tokens. So a long text costs little next to a short one.
 */
export function pairsWith(first: string, { pair, reader, maxTokens, side }: Around): (second: string) => EncodedPair {
  const specials = pair.prefix.length + pair.separator.length + pair.suffix.length;
  const room = Math.max(0, maxTokens - specials);
  const needed = tokensToRead(room, side);
  const a = reader.idsOf(first, needed);
  const ofFirst = counter(reader, first);

  function isFirstLonger(second: string): boolean {
    const ofSecond = counter(reader, second);
    return second.length <= first.length
      ? ofFirst.isMoreThan(ofSecond.count())
      : !ofSecond.isMoreThan(ofFirst.count() - 1);
  }

  return (second) => {
    const b = reader.idsOf(second, needed);
    let counts = [a.length, b.length] as const;
    if (side === "right" && room % 2 === 1 && Math.min(...counts) > room) {
      counts = [room + (isFirstLonger(second) ? 2 : 1), room + 1];
    }
    const [keptFirst, keptSecond] = longestFirst(...counts, room);
    const ids = joined([pair.prefix, cut(a, keptFirst, side), pair.separator, cut(b, keptSecond, side), pair.suffix]);
    const secondFrom = pair.secondFrom === undefined ? ids.length : pair.prefix.length + keptFirst + pair.secondFrom;
    return { ids, secondFrom, tokens: a.length + b.length + specials };
  };
}

/** Counts the tokens of a text, only as far as a comparison needs. Remembers the count. */
function counter(reader: TextReader, text: string) {
  let known = 0;
  let isWhole = false;
  return {
    count(): number {
      if (!isWhole) [known, isWhole] = [reader.countOf(text), true];
      return known;
    },
    isMoreThan(count: number): boolean {
      if (isWhole || known > count) return known > count;
      // Reads up to twice the count, so that calls with growing counts read the text only a few times.
      const limit = 2 * Math.max(0, count);
      const { length } = reader.idsOf(text, limit);
      isWhole = length <= limit;
      // A beginning can end inside a word, so its count can be wrong. It is only sure that the text has more than `limit` tokens.
      known = isWhole ? length : limit + 1;
      return known > count;
    },
  };
}
