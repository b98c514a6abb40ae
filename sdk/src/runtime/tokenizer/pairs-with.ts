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
 * Encodes a text with others. Of texts that are cut at their right, truncation needs to know only whether they have more than
 * `room` tokens. If the room is odd, and both texts have more, the longer one keeps one token more: then the one with fewer
 * characters is counted, and the other is read until it has more tokens. So a long text costs little with a short one.
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

/** Counts the tokens of a text, as far as it must. Remembers what it knows. */
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
      // Twice as many tokens, so that growing counts read a text a few times only.
      const limit = 2 * Math.max(0, count);
      const { length } = reader.idsOf(text, limit);
      isWhole = length <= limit;
      // A beginning can have more tokens than the text, if it ends inside of a word. Only that it has more than `limit` is sure.
      known = isWhole ? length : limit + 1;
      return known > count;
    },
  };
}
