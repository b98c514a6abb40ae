import { describe, expect, it } from "vitest";
import { type AttentionParts, dense, drawAttention, HIDDEN, merge, split } from "#test/fixtures/draw-attention.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

/** One sequence length below and one above the end of the slices. */
const SIZES = [
  { batch: 2, sequence: 31 },
  { batch: 2, sequence: 80 },
];
const first64 = (s: Sketch, heads: Value) => s.op("Slice", [heads, [0], [64], [2]]);

describe("attention with a slice that drops tokens", () => {
  const fuse = (parts: AttentionParts) =>
    rewritten((s) => s.output(drawAttention(s, s.input("x", ["batch", "sequence", HIDDEN]), parts)), { sizes: SIZES });

  it("is not fused if keys and values are cut to 64 tokens", async () => {
    const { counts, why } = await fuse({
      heads: (s, x) => [split(s, dense(s, x)), first64(s, split(s, dense(s, x))), first64(s, split(s, dense(s, x)))],
    });
    expect(counts).toMatchObject({ Softmax: 1, Slice: expect.any(Number) });
    expect(why("Attention").join()).toContain("keys are not split into heads in a supported way");
  });

  it("is fused if the context is cut to 64 tokens, and the slice stays", async () => {
    const { counts } = await fuse({ merged: (s, context) => merge(s, first64(s, context)) });
    expect(counts).toMatchObject({ Attention: 1, Slice: 1 });
  });
});
