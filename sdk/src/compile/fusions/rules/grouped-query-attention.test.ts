import { describe, expect, it } from "vitest";
import { dense, drawAttention, HIDDEN, SIZE, split } from "#test/fixtures/draw-attention.ts";
import { drawGroupedAttention, GROUPS, QUERY_HEADS, repeatedHeads } from "#test/fixtures/draw-grouped-attention.ts";
import { angles, range, rotated } from "#test/fixtures/draw-rotary.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const withRotation = (s: Sketch, heads: Value, x: Value) => rotated(s, heads, angles(s, range(s, x)));

const fuse = (rotate?: typeof withRotation) =>
  rewritten((s) => s.output(drawGroupedAttention(s, s.input("x", ["batch", "sequence", HIDDEN]), rotate)));

describe("attention whose heads of queries share keys and values", () => {
  it("becomes MultiHeadAttention, after keys and values are repeated", async () => {
    const { counts, graph } = await fuse();
    expect(counts).toMatchObject({ MultiHeadAttention: 1, MatMul: 3, Gather: 2 });
    expect(counts["Expand"]).toBeUndefined();
    const widths = [...graph.nodes].flatMap(({ opType, output }) =>
      opType === "MatMul" ? [output.shape?.at(-1)] : [],
    );
    expect(widths).toEqual([QUERY_HEADS * SIZE, GROUPS * SIZE, GROUPS * SIZE]);
  });

  it("rotates each key once", async () => {
    const { counts, graph } = await fuse(withRotation);
    expect(counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1, MatMul: 3 });
    const rotations = [...graph.nodes].filter(({ opType }) => opType === "RotaryEmbedding");
    expect(rotations.map(({ output }) => output.shape?.at(-1)).sort()).toEqual([QUERY_HEADS * SIZE, GROUPS * SIZE]);
  });

  it("is fused if keys come from no linear layer", async () => {
    const { counts } = await rewritten((s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const keys = s.input("keys", ["batch", "sequence", GROUPS * SIZE]);
      const queries = split(s, dense(s, x, QUERY_HEADS * SIZE), QUERY_HEADS, SIZE);
      const shared = repeatedHeads(s, split(s, keys, GROUPS, SIZE), x);
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
