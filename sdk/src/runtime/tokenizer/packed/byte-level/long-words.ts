import type { ByteMerger } from "./merge-bytes.ts";
import type { Merges } from "./merges.ts";

/** Default bytes that are merged at a time. */
const BLOCK = 2 ** 16;
/** Longest token with which blocks are worth while: each block tries as many ends as the longest token has bytes. */
const LONGEST_TOKEN = 512;
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/**
 * Appends the token ids of a word. After more than `enough` ids, the others are left out. `starts` receives the position of each
 * token's first byte.
 */
export type LongWordMerger = (word: string, ids: number[], enough: number, starts?: number[]) => void;

/**
 * Creates a function that merges a long word block by block, so that its memory does not depend on the word's length. It gives
 * the ids that `merge` gives for the whole word, because each step of `merge` takes the pair with the smallest rank and position:
 *
 * 1. A boundary between tokens is never merged across. Without the other side, the steps on one side would be the same. So the
 *    tokens on one side are those of that side alone.
 * 2. If no boundary between neighbours of a sequence disappears when just these two are merged, the sequence is what merging its
 *    bytes gives: the first step across a boundary would also be a step of these two alone.
 *
 * @param blockBytes bytes that are merged at a time
 */
export function createLongWordMerger(merges: Merges, merge: ByteMerger, blockBytes = BLOCK): LongWordMerger {
  const encoder = new TextEncoder();
  let longest: number | undefined;

  /** Returns the first token's length if `bytes` from `start` to `end` are merged. */
  function firstLength(bytes: Uint8Array, start: number, end: number): number {
    const starts: number[] = [];
    merge(bytes.subarray(start, end), end - start, [], starts);
    return starts[1] ?? end - start;
  }

  /**
   * Returns a boundary that remains, whatever follows the bytes; 0 if none is found.
   *
   * No token has more than `longest` bytes. So whatever follows, one of the last `longest` positions will be a boundary, and the
   * tokens before it will be those of the bytes before it. This function tries each of these positions, finds up to where the
   * tokens stay as they are, and returns the smallest of these boundaries.
   *
   * @param starts starts of the tokens of the bytes alone
   */
  function lastingBoundary(bytes: Uint8Array, length: number, starts: readonly number[], longest: number): number {
    let lasting = length;
    let before = starts.length - 1;
    for (let end = length - 1; end > length - longest; end--) {
      if (end <= 0) return 0;
      while ((starts[before] as number) > end) before--;
      let token = before;
      // Without the bytes from `end` on, the tokens up to `boundary` are the same if its neighbours do not merge.
      for (; token > 0 && starts[token] !== end; token--) {
        const boundary = starts[token] as number;
        const neighbour = starts[token - 1] as number;
        const next = boundary + firstLength(bytes, boundary, end);
        if (firstLength(bytes, neighbour, next) === boundary - neighbour) break;
      }
      lasting = Math.min(lasting, starts[token] as number);
    }
    return lasting;
  }

  return (word, ids, enough, allStarts) => {
    longest ??= longestToken(merges);
    const block = longest > LONGEST_TOKEN ? MAX_UTF8_BYTES * word.length : blockBytes;
    let bytes = new Uint8Array(block + MAX_UTF8_BYTES);
    let held = 0;
    /** Bytes of the word before those that are held. */
    let before = 0;
    for (let at = 0; ids.length <= enough; ) {
      const part = word.slice(at, wholeEnd(word, at + Math.ceil((bytes.length - held) / MAX_UTF8_BYTES)));
      const { read, written } = encoder.encodeInto(part, bytes.subarray(held));
      at += read;
      held += written;
      const tokens: number[] = [];
      const starts: number[] = [];
      merge(bytes, held, tokens, starts);
      const isLast = at === word.length;
      const lasting = isLast ? held : lastingBoundary(bytes, held, starts, longest);
      for (let token = 0; token < starts.length && (starts[token] as number) < lasting; token++) {
        ids.push(tokens[token] as number);
        allStarts?.push(before + (starts[token] as number));
      }
      if (isLast) return;
      before += lasting;
      const rest = bytes.subarray(lasting, held);
      if (rest.length > bytes.length / 2) bytes = new Uint8Array(2 * bytes.length);
      bytes.set(rest);
      held = rest.length;
    }
  };
}

/** Returns an end at or before `end` that does not separate surrogates. */
function wholeEnd(text: string, end: number): number {
  return end < text.length && (text.codePointAt(end - 1) as number) > 0xffff ? end - 1 : end;
}

/** Returns the bytes of the longest token; infinite if a token has several lengths, which only damaged merges give. */
function longestToken({ byteIds, rightStart, rights, ranks, merged }: Merges): number {
  const pairs: { left: number; right: number; rank: number }[] = [];
  for (let left = 0; left + 1 < rightStart.length; left++) {
    for (let at = rightStart[left] as number; at < (rightStart[left + 1] as number); at++) {
      pairs.push({ left, right: rights[at] as number, rank: ranks[at] as number });
    }
  }
  pairs.sort((a, b) => a.rank - b.rank);
  const lengths = new Map(Array.from(byteIds, (id) => [id, 1]));
  let longest = 1;
  // Most tokens have larger ranks than their parts. A token whose parts no pair gives cannot occur.
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
