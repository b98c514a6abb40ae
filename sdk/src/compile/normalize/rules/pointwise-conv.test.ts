import { describe, expect, it } from "vitest";
import { drawAttention, HEADS, HIDDEN, SIZE } from "#test/fixtures/draw-attention.ts";
import type { Sketch, SketchAttribute } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const swapped = (s: Sketch, x: Value) => s.op("Transpose", [x], { perm: [0, 2, 1] });
const input = (s: Sketch) => s.input("x", ["batch", "sequence", HIDDEN]);

/** Draws a Conv of x [batch, channels, sequence]. */
const conv = (s: Sketch, x: Value, weight: readonly number[], settings: Record<string, SketchAttribute> = {}) =>
  s.op("Conv", [x, s.random(weight), s.random([weight[0] ?? 0])], settings);

const canonical = (draw: (s: Sketch, x: Value) => Value) =>
  rewritten((s) => s.output(swapped(s, draw(s, swapped(s, input(s))))), { optimize: only() });

describe("Conv with kernel size 1", () => {
  it("becomes MatMul and Add", async () => {
    const { counts } = await canonical((s, x) => conv(s, x, [6, HIDDEN, 1], { kernel_shape: [1] }));
    expect(counts).toEqual({ MatMul: 1, Add: 1 });
  });

  it("without a bias becomes MatMul", async () => {
    const { counts } = await canonical((s, x) => s.op("Conv", [x, s.random([6, HIDDEN, 1])]));
    expect(counts).toEqual({ MatMul: 1 });
  });

  it("of groups becomes a MatMul for each group", async () => {
    const { counts, graph } = await canonical((s, x) => conv(s, x, [6, HIDDEN / 2, 1], { group: 2 }));
    expect(counts).toEqual({ Slice: 2, MatMul: 2, Concat: 1, Add: 1 });
    const shapes = [...graph.nodes].flatMap(({ opType, inputs }) =>
      opType === "MatMul" ? [inputs[1]?.constant?.shape] : [],
    );
    expect(shapes).toEqual(Array(2).fill([HIDDEN / 2, 3]));
  });

  it("without Transposes around it becomes MatMul too", async () => {
    const { counts } = await rewritten(
      (s) => s.output(conv(s, s.input("x", ["batch", HIDDEN, "sequence"]), [6, HIDDEN, 1])),
      { optimize: only() },
    );
    expect(counts).toEqual({ Transpose: 2, MatMul: 1, Add: 1 });
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["with a larger kernel", (s, x) => conv(s, x, [6, HIDDEN, 3])],
    ["of many groups", (s, x) => conv(s, s.op("Concat", [x, x], { axis: 1 }), [16, 1, 1], { group: 16 })],
    ["that skips tokens", (s, x) => conv(s, x, [6, HIDDEN, 1], { strides: [2] })],
    ["that adds tokens", (s, x) => conv(s, x, [6, HIDDEN, 1], { pads: [0, 1] })],
    ["with computed weights", (s, x) => s.op("Conv", [x, s.op("Tanh", [s.input("w", [6, HIDDEN, 1])])])],
  ])("%s stays", async (_, draw) => {
    expect((await canonical(draw)).counts["Conv"]).toBe(1);
  });
});

describe("a layer whose linear layers are Convs", () => {
  it("is fused", async () => {
    const { counts } = await rewritten((s) => {
      const x = swapped(s, input(s));
      const heads = () => s.op("Reshape", [conv(s, x, [HIDDEN, HIDDEN / 2, 1], { group: 2 }), [0, HEADS, SIZE, -1]]);
      const inOrder = (value: Value) => s.op("Transpose", [value], { perm: [0, 1, 3, 2] });
      const context = drawAttention(s, x, {
        heads: () => [inOrder(heads()), heads(), inOrder(heads())],
        transposed: (_, k) => k,
        merged: (_, value) => s.op("Reshape", [inOrder(value), [0, HIDDEN, -1]]),
      });
      const sum = s.op("Add", [conv(s, context, [HIDDEN, HIDDEN, 1]), x]);
      const [gamma, beta] = [s.random([HIDDEN], 1), s.random([HIDDEN])];
      s.output(swapped(s, s.op("LayerNormalization", [swapped(s, sum), gamma, beta], { axis: -1 })));
    });
    expect(counts).toMatchObject({ MultiHeadAttention: 1, SkipLayerNormalization: 1, MatMul: 7 });
    expect(counts["Conv"]).toBeUndefined();
  });
});
