import { describe, expect, it } from "vitest";
import { drawAttention, HIDDEN, paddedRows } from "#test/fixtures/draw-attention.ts";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

describe("CastLike", () => {
  it("of a value becomes Cast", async () => {
    const { counts } = await rewritten(
      (s) => s.output(s.op("CastLike", [s.input("mask", ["batch", "sequence"], "int64"), s.input("x", ["batch", 4])])),
      { optimize: only() },
    );
    expect(counts).toEqual({ Cast: 1 });
  });

  it("of a constant is folded, also if only a computed value has the type", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", "sequence", 4]);
        const width = s.op("Sqrt", [s.op("CastLike", [s.index(4), x])]);
        s.output(s.op("Div", [s.op("Tanh", [x]), width]));
      },
      { optimize: only(), opset: 18 },
    );
    expect(counts).toEqual({ Tanh: 1, Div: 1 });
  });
});

const canonical = (draw: (s: Sketch, x: Value, y: Value) => Value) =>
  rewritten((s) => s.output(draw(s, s.input("x", ["n", 4]), s.input("y", ["n", 4]))), {
    optimize: only(),
    sizes: [{ n: 3 }],
  });

describe("a product that is subtracted", () => {
  it.each<[string, (s: Sketch, x: Value, y: Value) => Value]>([
    ["x − y · c", (s, x, y) => s.op("Sub", [x, s.op("Mul", [y, 3])])],
    ["x − c · y", (s, x, y) => s.op("Sub", [x, s.op("Mul", [3, y])])],
    ["x − y · c, with a c for each column", (s, x, y) => s.op("Sub", [x, s.op("Mul", [y, s.random([4])])])],
  ])("is added instead: %s", async (_, draw) => {
    expect((await canonical(draw)).counts).toEqual({ Mul: 1, Add: 1 });
  });

  it.each<[string, (s: Sketch, x: Value, y: Value) => Value]>([
    ["from a constant", (s, _, y) => s.op("Sub", [1, s.op("Mul", [y, 3])])],
    ["of two computed tensors", (s, x, y) => s.op("Sub", [x, s.op("Mul", [x, y])])],
  ])("stays %s", async (_, draw) => {
    expect((await canonical(draw)).counts["Sub"]).toBe(1);
  });

  it("from scores is a padding mask", async () => {
    const { counts } = await rewritten(
      (s) => {
        const mask = s.op("Cast", [s.input("mask", ["batch", "sequence"], "int64")], { to: CAST.float32 });
        const hidden = s.op("Mul", [s.op("Sub", [1, s.op("Unsqueeze", [mask, [1, 2]])]), 1e6]);
        const x = s.input("x", ["batch", "sequence", HIDDEN]);
        s.output(drawAttention(s, x, { masked: (_, scores) => s.op("Sub", [scores, hidden]) }));
      },
      { given: (sizes) => ({ mask: paddedRows(sizes) }) },
    );
    expect(counts).toEqual({ Attention: 1, Cast: 1 });
  });
});
