import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitInputs } from "./split-inputs.ts";

const bytesOf = (texts: readonly string[]) => new TextEncoder().encode(JSON.stringify(texts)).length;

describe("splitInputs", () => {
  it("keeps every text once, in order, with at most batchSize texts in a batch", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 9 }), (texts, batchSize) => {
        const batches = splitInputs(texts, batchSize);
        expect(batches.flat()).toEqual([...texts.keys()]);
        for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(batchSize);
        expect(batches).toHaveLength(Math.max(1, Math.ceil(texts.length / batchSize)));
      }),
    );
  });

  it("counts bytes as they are sent: UTF-8, with JSON's escapes", () => {
    for (const character of ["a", "é", "漢", "🎉", "\n", "\u0001", "\ud800"]) {
      const texts = Array.from({ length: 40 }, () => character.repeat(30_000));
      for (const batch of splitInputs(texts, 1_000)) {
        expect(batch.length).toBeGreaterThan(1);
        expect(bytesOf(batch.map((index) => texts[index] as string))).toBeLessThan(1_001_000);
      }
    }
  });

  it("sends a text that is too large alone", () => {
    expect(splitInputs(["a", "b".repeat(2_000_000), "c", "d"], 10)).toEqual([[0], [1], [2, 3]]);
  });
});
