import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { sentenceVector } from "../tasks/sentence-vector.ts";
import { ofSimilarLength, oneByOne, PADDED_TOKENS, together } from "./batching.ts";
import type { TokenIds, TokenSequence } from "./engine.ts";
import { idsOf } from "./token-sequence.ts";
import { withHead } from "./with-head.ts";

const HEAD = { pooling: "mean", normalize: true } as const;
const WIDTH = 4;

const sequences = fc
  .array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 40 })
  .map((lengths): TokenIds[] => lengths.map((length, i) => new Int32Array(length).fill(i)));
const hiddenStatesOf = (ids: TokenIds) =>
  Float32Array.from({ length: ids.length * WIDTH }, (_, i) => Math.sin((ids[0] as number) + i));

/** Returns an engine that records its batches. */
function recording() {
  const batches: number[][] = [];
  const run = async (batch: readonly TokenSequence[]) => {
    batches.push(batch.map((sequence) => idsOf(sequence).length));
    return batch.map((sequence) => hiddenStatesOf(idsOf(sequence)));
  };
  return { batches, run };
}

describe.each([
  ["together", together],
  ["oneByOne", oneByOne],
  ["ofSimilarLength", ofSimilarLength],
])("withHead, batching %s", (_, batching) => {
  it("returns the result of each sequence, in the order of the sequences", async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (texts) => {
        const run = withHead(recording().run, batching);
        expect(await run(texts)).toEqual(texts.map(hiddenStatesOf));
        expect(await run(texts, HEAD)).toEqual(texts.map((ids) => sentenceVector(hiddenStatesOf(ids), WIDTH, HEAD)));
      }),
      seeded(runs(5, 20)),
    );
  });
});

describe("oneByOne", () => {
  it("makes one call per sequence, so that no sequence depends on another", async () => {
    const { batches, run } = recording();
    await withHead(run, oneByOne)([new Int32Array(3), new Int32Array(1)]);
    expect(batches).toEqual([[3], [1]]);
  });
});

describe("ofSimilarLength", () => {
  it("makes batches of at most PADDED_TOKENS tokens, padding included", () => {
    fc.assert(
      fc.property(sequences, (texts) => {
        for (const batch of ofSimilarLength(texts)) {
          const lengths = batch.map((index) => (texts[index] as TokenIds).length);
          expect(lengths.length === 1 || lengths.length * Math.max(...lengths) <= PADDED_TOKENS).toBe(true);
        }
      }),
    );
  });

  it("splits 2,048 texts, and pads less than a tenth", () => {
    const texts = Array.from({ length: 2_048 }, (_, i) => new Int32Array(1 + ((i * 37) % 256)));
    const batches = ofSimilarLength(texts).map((batch) => batch.map((index) => (texts[index] as TokenIds).length));
    const padded = batches.reduce((sum, lengths) => sum + lengths.length * Math.max(...lengths), 0);
    const tokens = texts.reduce((sum, { length }) => sum + length, 0);
    expect(padded).toBeLessThan(1.1 * tokens);
    expect(batches.length).toBeLessThan(1.2 * Math.ceil(tokens / PADDED_TOKENS) + 1);
  });
});
