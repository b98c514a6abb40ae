import fc from "fast-check";
import { expect, it } from "vitest";
import { createLongWordMerger, type UnitSource } from "./long-words.ts";
import { createUnitMerger } from "./merge-bytes.ts";
import type { Merges } from "./merges.ts";

/** Few letters, so that merges often overlap. */
const LETTERS = ["a", "b", "é", "中", "🎉"];
const ASCII = 128;
/** Token ids of the bytes come first. */
const BYTES = 256;

/** Makes merges of pairs of earlier tokens. Their ranks are in any order, so a pair can have a smaller rank than its parts. */
const someMerges = fc
  .array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 24 })
  .map((drawn): Merges => {
    const units = [...new Set(new TextEncoder().encode(LETTERS.join("")))];
    const spellings = new Map(Array.from({ length: BYTES }, (_, byte) => [`${byte}`, byte]));
    const known = units.map((byte) => ({ spelling: `${byte}`, id: byte }));
    const pairs = new Map<string, { left: number; right: number; id: number; order: number }>();
    for (const [first, second, order] of drawn) {
      const [left, right] = [first, second].map((at) => known[at % known.length]) as [
        (typeof known)[0],
        (typeof known)[0],
      ];
      const spelling = `${left.spelling} ${right.spelling}`;
      const id = spellings.get(spelling) ?? spellings.size;
      if (!spellings.has(spelling)) known.push({ spelling, id });
      spellings.set(spelling, id);
      pairs.set(`${left.id} ${right.id}`, { left: left.id, right: right.id, id, order });
    }
    const ranked = [...pairs.values()].sort((a, b) => a.order - b.order).map((pair, rank) => ({ ...pair, rank }));
    const sorted = ranked.toSorted((a, b) => a.left - b.left || a.right - b.right);
    return {
      byteIds: Uint32Array.from({ length: BYTES }, (_, byte) => byte),
      rightStart: Uint32Array.from(
        { length: spellings.size + 1 },
        (_, left) => sorted.filter((pair) => pair.left < left).length,
      ),
      rights: Uint32Array.from(sorted, ({ right }) => right),
      ranks: Uint32Array.from(sorted, ({ rank }) => rank),
      merged: Uint32Array.from(ranked, ({ id }) => id),
    };
  });

const encoder = new TextEncoder();
const bytesOf = (merges: Merges): UnitSource => ({
  create: (length) => new Uint8Array(length),
  encodeInto: (text, units) => encoder.encodeInto(text, units as Uint8Array<ArrayBuffer>),
  firstIds: merges.byteIds,
});

const someWord = fc
  .array(fc.tuple(fc.constantFrom(...LETTERS), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 40 })
  .map((runs) => runs.map(([letter, times]) => letter.repeat(times)).join(""));

it("merging block by block gives the ids and places of the whole word, and as many as are enough", () => {
  fc.assert(
    fc.property(someMerges, someWord, fc.integer({ min: 8, max: 64 }), fc.nat(40), (merges, word, block, enough) => {
      const merge = createUnitMerger(merges, merges.byteIds);
      const mergeLong = createLongWordMerger(merges, merge, bytesOf(merges), block);
      const bytes = new TextEncoder().encode(word);
      const [whole, starts]: [number[], number[]] = [[], []];
      merge(bytes, bytes.length, whole, starts);
      const [ids, found]: [number[], number[]] = [[], []];
      mergeLong(word, ids, Number.POSITIVE_INFINITY, found);
      expect(ids).toEqual(whole);
      expect(found).toEqual(starts);
      const some: number[] = [];
      mergeLong(word, some, enough);
      expect(some.length).toBeGreaterThan(Math.min(enough, whole.length - 1));
      expect(some).toEqual(whole.slice(0, some.length));
    }),
    { numRuns: 2_000, seed: 1 },
  );
});

it("merges only the first blocks of a word of a million letters", () => {
  const merges: Merges = {
    byteIds: Uint32Array.from({ length: BYTES }, (_, byte) => byte),
    rightStart: Uint32Array.from({ length: BYTES + 1 }, (_, left) => (left > 97 ? 1 : 0)),
    rights: Uint32Array.of(97),
    ranks: Uint32Array.of(0),
    merged: Uint32Array.of(BYTES),
  };
  let merged = 0;
  const merge = createUnitMerger(merges, merges.byteIds);
  const mergeLong = createLongWordMerger(
    merges,
    (bytes, length, ids, starts) => {
      merged += length;
      merge(bytes, length, ids, starts);
    },
    bytesOf(merges),
  );
  const ids: number[] = [];
  mergeLong("a".repeat(1_000_000), ids, 100);
  expect(new Set(ids)).toEqual(new Set([BYTES]));
  expect(merged).toBeLessThan(ASCII * 1024);
});
