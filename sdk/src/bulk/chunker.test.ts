import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { type ChunkLimits, chunker } from "./chunker.ts";
import type { InputLine } from "./line-splitter.ts";

const linesOf = (sizes: readonly number[]): InputLine[] =>
  sizes.map((size, i) => ({ number: i + 1, bytes: new Uint8Array(size - 1), size }));

/** Returns the line numbers of each chunk. */
function chunksOf(lines: readonly InputLine[], limits: ChunkLimits): number[][] {
  const { push, end } = chunker(limits);
  const chunks = [...lines.map(push), end()].filter((chunk) => chunk !== undefined);
  for (const { lines, size } of chunks) expect(size).toBe(lines.reduce((sum, line) => sum + line.size, 0));
  return chunks.map(({ lines }) => lines.map(({ number }) => number));
}

describe("chunker", () => {
  it("ends a chunk with the line that reaches a limit", () => {
    expect(chunksOf(linesOf([1, 1, 1, 1, 1]), { lines: 2, bytes: 100 })).toEqual([[1, 2], [3, 4], [5]]);
    expect(chunksOf(linesOf([4, 4, 4, 20, 1]), { lines: 9, bytes: 8 })).toEqual([[1, 2], [3, 4], [5]]);
    const costOf = ({ size }: InputLine) => 10 * size;
    expect(chunksOf(linesOf([1, 2, 3]), { lines: 9, bytes: 100, cost: 30, costOf })).toEqual([[1, 2], [3]]);
  });

  it("makes the same chunks when reading begins again at any chunk", () => {
    const limits = { lines: 4, bytes: 20 };
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 40 }), fc.nat(), (sizes, choice) => {
        const lines = linesOf(sizes);
        const chunks = chunksOf(lines, limits);
        const from = chunks.length > 0 ? choice % chunks.length : 0;
        const before = chunks.slice(0, from).flat().length;
        expect(chunksOf(lines.slice(before), limits)).toEqual(chunks.slice(from));
        expect(chunks.flat()).toEqual(lines.map(({ number }) => number));
      }),
      seeded(200),
    );
  });
});
