import { describe, expect, it } from "vitest";
import { type AttentionParts, dense, drawAttention, HIDDEN, merge, split } from "#test/fixtures/draw-attention.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

/** On either side of where the slices end. */
const SIZES = [
  { batch: 2, sequence: 31 },
  { batch: 2, sequence: 80 },
];
const first64 = (s: Sketch, heads: Value) => s.op("Slice", [heads, [0], [64], [2]]);

describe("attention of which a slice leaves out tokens", () => {
  it.each<[string, AttentionParts, string]>([
    [
      "keys and values end after 64",
      {
        heads: (s, x) => [split(s, dense(s, x)), first64(s, split(s, dense(s, x))), first64(s, split(s, dense(s, x)))],
      },
      "keys are not split into heads in a known way",
    ],
    [
      "the context ends after 64",
      { merged: (s, context) => merge(s, first64(s, context)) },
      "its heads are not put back together in a known way",
    ],
  ])("is left alone: %s", async (_, parts, reason) => {
    const { counts, why } = await rewritten(
      (s) => s.output(drawAttention(s, s.input("x", ["batch", "sequence", HIDDEN]), parts)),
      { sizes: SIZES },
    );
    expect(counts).toMatchObject({ Softmax: 1, Slice: expect.any(Number) });
    expect(why("Attention").join()).toContain(reason);
  });
});
