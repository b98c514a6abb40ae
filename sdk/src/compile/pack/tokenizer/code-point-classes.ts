import {
  apart,
  combining,
  ideographs,
  letters,
  nonspacing,
  nonspacingStarters,
  numbers,
  punctuation,
  removed,
  undecomposed,
} from "./rust-unicode.ts";

/** What Hugging Face's Rust tokenizers take code points for, whatever Unicode this Node.js has. */
export const classes = {
  removed: setOf(removed),
  punctuation: setOf(punctuation),
  ideographs: setOf(ideographs),
  nonspacing: setOf(nonspacing),
  nonspacingStarters: setOf(nonspacingStarters),
  undecomposed: setOf(undecomposed),
  apart: setOf(apart),
  letters: setOf(letters),
  numbers: setOf(numbers),
} as const;

/** Canonical combining classes of characters without a decomposition; 0 for those that are not in it. */
export const combiningClass: ReadonlyMap<number, number> = new Map(
  Object.entries(combining).flatMap(([of, ranges]) => [...setOf(ranges)].map((point) => [point, Number(of)] as const)),
);

/** The code points of "61-63 ff": hexadecimal ranges and single ones. */
export function setOf(ranges: string): ReadonlySet<number> {
  const set = new Set<number>();
  for (const range of ranges.trim().split(/\s+/)) {
    const [first, last = first] = range.split("-").map((digits) => Number.parseInt(digits, 16)) as [number, number?];
    for (let point = first; point <= last; point++) set.add(point);
  }
  return set;
}
