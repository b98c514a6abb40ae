import { describe, expect, it } from "vitest";
import { type AttentionParts, dense, drawAttention, HEADS, HIDDEN, split } from "#test/fixtures/draw-attention.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

describe("attention of two tensors", () => {
  const crossed = (mask?: (s: Sketch, scores: Value) => Value) =>
    rewritten(
      (s) => {
        const [x, y] = [s.input("x", ["batch", "sequence", HIDDEN]), s.input("y", ["batch", "other", HIDDEN])];
        const parts: AttentionParts = {
          heads: () => [split(s, dense(s, x)), split(s, dense(s, y)), split(s, dense(s, y))],
        };
        s.output(drawAttention(s, x, mask ? { ...parts, masked: mask } : parts));
      },
      {
        sizes: [
          { batch: 2, sequence: 5, other: 3 },
          { batch: 3, sequence: 4, other: 7 },
        ],
      },
    );

  it("becomes MultiHeadAttention", async () => {
    expect((await crossed()).counts).toEqual({ MatMul: 3, Add: 3, MultiHeadAttention: 1 });
  });

  it("accepts a mask as long as the keys", async () => {
    const { counts } = await crossed((s, scores) => {
      const mask = s.op("Unsqueeze", [s.input("mask", ["batch", "other"], "bool"), [1, 2]]);
      return s.op("Where", [mask, scores, -10_000]);
    });
    expect(counts).toEqual({ MatMul: 3, Add: 3, Cast: 1, MultiHeadAttention: 1 });
  });

  it("accepts a bias [queries, keys]", async () => {
    const { counts } = await crossed((s, scores) =>
      s.op("Add", [scores, s.input("bias", [1, HEADS, "sequence", "other"])]),
    );
    expect(counts).toMatchObject({ MultiHeadAttention: 1 });
  });

  it("is not fused with a bias that is the same for all queries", async () => {
    const { counts, why } = await crossed((s, scores) =>
      s.op("Add", [scores, s.input("bias", ["batch", 1, 1, "other"])]),
    );
    expect(counts["Softmax"]).toBe(1);
    expect(why("Attention").join()).toContain("the shape of the bias on the scores is unknown");
  });
});
