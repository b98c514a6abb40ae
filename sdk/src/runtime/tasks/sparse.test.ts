import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, rowsOf } from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { sparseEntries } from "./sparse.ts";

const { dimensions, rows, sparse } = pipelineCases.vectors;
const weights = fc
  .array(fc.oneof(fc.constant(0), fc.float({ min: 0, max: 9, noNaN: true })), { maxLength: 30 })
  .map((values) => Float32Array.from(values));

describe("sparseEntries", () => {
  it("lists what torch's to_sparse lists", () => {
    const found = rowsOf(decodedFloats(rows), dimensions).map((row) => sparseEntries(row));
    expect(found).toEqual(sparse.map(({ indices, values }) => ({ indices, values: [...decodedFloats(values)] })));
  });

  it("keeps the highest weights, in the order of their indices", () => {
    expect(sparseEntries(Float32Array.of(1, 0, 3, 2, 3), 2)).toEqual({ indices: [2, 4], values: [3, 3] });
  });

  it("has rising indices and positive values, from which the weights can be made again", () => {
    fc.assert(
      fc.property(weights, (given) => {
        const { indices, values } = sparseEntries(given);
        expect(indices).toEqual([...new Set(indices)].sort((a, b) => a - b));
        const again = new Float32Array(given.length);
        indices.forEach((index, i) => {
          expect(values[i]).toBeGreaterThan(0);
          again[index] = values[i] as number;
        });
        expect(again).toEqual(given.map((weight) => weight + 0));
      }),
      seeded(200),
    );
  });

  it("keeps no weight for topK that is lower than one left out", () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 10 }), (given, topK) => {
        const { indices, values } = sparseEntries(given, topK);
        const positive = given.filter((weight) => weight > 0).length;
        expect(indices).toHaveLength(Math.min(topK, positive));
        const left = given.filter((_, i) => !indices.includes(i));
        expect(Math.max(0, ...left)).toBeLessThanOrEqual(Math.min(...values, Number.POSITIVE_INFINITY));
      }),
      seeded(200),
    );
  });
});
