import { describe, expect, it } from "vitest";
import { dense, drawAttention, HIDDEN, SIZE, split } from "#test/fixtures/draw-attention.ts";
import { angles, range, rotated } from "#test/fixtures/draw-rotary.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const QUERY_HEADS = 4;
const GROUPS = 2;

/** Repeats each head of [batch, groups, sequence, size] for the heads of queries that share it, as transformers does. */
function repeated(s: Sketch, heads: Value, x: Value): Value {
  const sizes = s.op("Shape", [x]);
  const [batch, sequence] = [0, 1].map((axis) => s.op("Gather", [sizes, [axis]])) as [Value, Value];
  const each = QUERY_HEADS / GROUPS;
  const target = s.op("Concat", [batch, [GROUPS, each], sequence, [SIZE]], { axis: 0 });
  const expanded = s.op("Expand", [s.op("Unsqueeze", [heads, [2]]), target]);
  return s.op("Reshape", [expanded, s.op("Concat", [batch, [QUERY_HEADS], sequence, [SIZE]], { axis: 0 })]);
}

const withRotation = (s: Sketch, heads: Value, x: Value) => rotated(s, heads, angles(s, range(s, x)));
const unrotated = (_: Sketch, heads: Value) => heads;

const fuse = (rotate: typeof withRotation) =>
  rewritten((s) => {
    const x = s.input("x", ["batch", "sequence", HIDDEN]);
    const heads = (count: number) => split(s, dense(s, x, count * SIZE), count, SIZE);
    s.output(
      drawAttention(s, x, {
        heads: () => [
          rotate(s, heads(QUERY_HEADS), x),
          repeated(s, rotate(s, heads(GROUPS), x), x),
          repeated(s, heads(GROUPS), x),
        ],
      }),
    );
  });

describe("attention whose heads of queries share keys and values", () => {
  it("becomes packed attention with repeated weights", async () => {
    const { counts } = await fuse(unrotated);
    expect(counts).toEqual({ Attention: 1 });
  });

  it("becomes MultiHeadAttention after rotary embeddings of repeated weights", async () => {
    const { counts } = await fuse(withRotation);
    expect(counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1, MatMul: 3 });
    expect(counts["Expand"]).toBeUndefined();
  });

  it("is fused with a selection of columns if keys come from no linear layer", async () => {
    const { counts } = await rewritten((s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const keys = s.input("keys", ["batch", "sequence", GROUPS * SIZE]);
      const queries = split(s, dense(s, x, QUERY_HEADS * SIZE), QUERY_HEADS, SIZE);
      const shared = repeated(s, split(s, keys, GROUPS, SIZE), x);
      s.output(drawAttention(s, x, { heads: () => [queries, shared, shared] }));
    });
    expect(counts).toMatchObject({ MultiHeadAttention: 1, MatMul: 1 });
    expect(counts["Softmax"]).toBeUndefined();
  });

  it("is not fused if heads are repeated for the texts of a batch instead", async () => {
    const { counts, why } = await rewritten((s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const keys = s.input("keys", [1, "sequence", QUERY_HEADS * SIZE]);
      const queries = split(s, dense(s, x, QUERY_HEADS * SIZE), QUERY_HEADS, SIZE);
      const shape = s.op("Shape", [queries]);
      const shared = s.op("Expand", [split(s, keys, QUERY_HEADS, SIZE), shape]);
      s.output(drawAttention(s, x, { heads: () => [queries, shared, shared] }));
    });
    expect(counts["Softmax"]).toBe(1);
    expect(why("Attention").join()).toContain("the keys are not split into heads");
  });
});
