import type { UnitMerger, Units } from "./merge-bytes.ts";
import type { Merges } from "./merges.ts";

/** Default number of units that are merged at a time. */
const BLOCK = 2 ** 16;
/** Maximum units of the longest token, if words are merged in blocks. Each block tries as many ends as this token has units. */
const LONGEST_TOKEN = 512;
/** Maximum units per UTF-16 code unit, which has at most 3 bytes in UTF-8. */
const MAX_UNITS = 3;

/** Turns words into units: bytes, or ids of tokens. */
export interface UnitSource {
  create(length: number): Units;
  /** Writes the units of a text, as far as they fit. Returns the numbers of UTF-16 code units read and of units written. */
  encodeInto(text: string, units: Units): { readonly read: number; readonly written: number };
  /** Ids of the tokens that one unit can be. */
  readonly firstIds: Iterable<number>;
}

/**
 * Appends the token ids of a word. After more than `enough` ids, the others are left out. `starts` receives the position of each
 * token's first unit.
 */
export type LongWordMerger = (word: string, ids: number[], enough: number, starts?: number[]) => void;

/**
 * Creates a function that merges a long word block by block, so that its memory does not depend on the word's length. It gives
 * the same ids as `merge` for the whole word. Each step of `merge` takes the pair with the smallest rank and position, so:
 *
 * 1. No step merges across a boundary between final tokens. The steps on one side of it do not depend on the other side, so each
 *    side has the tokens that it would have alone.
 * 2. If merging the units of any two neighbours alone keeps the boundary between them, merging all units gives the same tokens. The
 *    reason: the first step across a boundary would also be a step of its two neighbours alone.
 *
 * @param blockUnits number of units that are merged at a time
 */
export function createLongWordMerger(
  merges: Merges,
  merge: UnitMerger,
  source: UnitSource,
  blockUnits = BLOCK,
): LongWordMerger {
  let longest: number | undefined;

  /** Returns the first token's length if `units` from `start` to `end` are merged. */
  function firstLength(units: Units, start: number, end: number): number {
    const starts: number[] = [];
    merge(units.subarray(start, end), end - start, [], starts);
    return starts[1] ?? end - start;
  }

  /**
   * Returns a boundary that remains, whatever follows the units; 0 if none is found.
   *
   * No token has more than `longest` units. So whatever follows, one of the last `longest` positions is a boundary of the word, and
   * the units before it alone give the tokens before it. This function lets the units end at each of these positions, and finds
   * the boundary up to which their tokens stay the same. It returns the smallest of these boundaries.
   *
   * @param starts start of each token that merging only `units` gives
   */
  function lastingBoundary(units: Units, length: number, starts: readonly number[], longest: number): number {
    let lasting = length;
    let before = starts.length - 1;
    for (let end = length - 1; end > length - longest; end--) {
      if (end <= 0) return 0;
      while ((starts[before] as number) > end) before--;
      let token = before;
      // Without the units from `end` on, the tokens up to `boundary` are the same if its neighbours do not merge.
      for (; token > 0 && starts[token] !== end; token--) {
        const boundary = starts[token] as number;
        const neighbour = starts[token - 1] as number;
        const next = boundary + firstLength(units, boundary, end);
        if (firstLength(units, neighbour, next) === boundary - neighbour) break;
      }
      lasting = Math.min(lasting, starts[token] as number);
    }
    return lasting;
  }

  return (word, ids, enough, allStarts) => {
    longest ??= longestToken(merges, source.firstIds);
    const block = longest > LONGEST_TOKEN ? MAX_UNITS * word.length : blockUnits;
    let units = source.create(block + MAX_UNITS);
    let held = 0;
    /** Number of units of the word before those that `units` holds. */
    let before = 0;
    for (let at = 0; ids.length <= enough; ) {
      const part = word.slice(at, wholeEnd(word, at + Math.ceil((units.length - held) / MAX_UNITS)));
      const { read, written } = source.encodeInto(part, units.subarray(held));
      at += read;
      held += written;
      const tokens: number[] = [];
      const starts: number[] = [];
      merge(units, held, tokens, starts);
      const isLast = at === word.length;
      const lasting = isLast ? held : lastingBoundary(units, held, starts, longest);
      for (let token = 0; token < starts.length && (starts[token] as number) < lasting; token++) {
        ids.push(tokens[token] as number);
        allStarts?.push(before + (starts[token] as number));
      }
      if (isLast) return;
      before += lasting;
      const rest = units.subarray(lasting, held);
      if (rest.length > units.length / 2) units = source.create(2 * units.length);
      units.set(rest);
      held = rest.length;
    }
  };
}

/** Returns `end`, or the index before it if `end` would split a surrogate pair. */
function wholeEnd(text: string, end: number): number {
  return end < text.length && (text.codePointAt(end - 1) as number) > 0xffff ? end - 1 : end;
}

/** Returns the number of units of the longest token; infinite if a token has several lengths, which only damaged merges give. */
function longestToken({ rightStart, rights, ranks, merged }: Merges, firstIds: Iterable<number>): number {
  const pairs: { left: number; right: number; rank: number }[] = [];
  for (let left = 0; left + 1 < rightStart.length; left++) {
    for (let at = rightStart[left] as number; at < (rightStart[left + 1] as number); at++) {
      pairs.push({ left, right: rights[at] as number, rank: ranks[at] as number });
    }
  }
  pairs.sort((a, b) => a.rank - b.rank);
  const lengths = new Map(Array.from(firstIds, (id) => [id, 1]));
  let longest = 1;
  // Most tokens have larger ranks than their parts, so few passes find all lengths. A token whose parts never occur has none.
  for (let known = 0; known < lengths.size; ) {
    known = lengths.size;
    for (const { left, right, rank } of pairs) {
      const [ofLeft, ofRight] = [lengths.get(left), lengths.get(right)];
      if (ofLeft === undefined || ofRight === undefined) continue;
      const id = merged[rank] as number;
      if ((lengths.get(id) ?? ofLeft + ofRight) !== ofLeft + ofRight) return Number.POSITIVE_INFINITY;
      lengths.set(id, ofLeft + ofRight);
      longest = Math.max(longest, ofLeft + ofRight);
    }
  }
  return longest;
}
