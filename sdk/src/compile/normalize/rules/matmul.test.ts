import { describe, expect, it } from "vitest";
import type { Sketch, SketchAttribute } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";

const WIDTH = 6;
type Draw = (s: Sketch, x: Value) => Value;
const canonical = (draw: Draw, opset = 17) =>
  rewritten((s) => s.output(draw(s, s.input("x", ["batch", "sequence", WIDTH]))), { optimize: only(), opset });
const rowsOf = (s: Sketch, x: Value) => s.op("Reshape", [x, [-1, WIDTH]]);
const back = (s: Sketch, rows: Value, x: Value) =>
  s.op("Reshape", [rows, s.op("Concat", [s.op("Slice", [s.op("Shape", [x]), [0], [2]]), [-1]], { axis: 0 })]);

describe("Gemm", () => {
  const onRows =
    (
      settings: Record<string, SketchAttribute>,
      weight = [WIDTH, 4],
      c: (s: Sketch) => Value | undefined = (s) => s.random([4]),
    ): Draw =>
    (s, x) =>
      back(s, s.op("Gemm", [rowsOf(s, x), s.random(weight), c(s)], settings), x);

  it.each<[string, Draw]>([
    ["x · w + c", onRows({})],
    ["x · wᵀ + c", onRows({ transB: 1 }, [4, WIDTH])],
    ["with factors of 1", onRows({ alpha: { float: 1 }, beta: { float: 1 } })],
  ])("of rows, %s, becomes MatMul and Add", async (_, draw) => {
    expect((await canonical(draw)).counts).toEqual({ MatMul: 1, Add: 1 });
  });

  it("of rows without c becomes MatMul", async () => {
    expect((await canonical(onRows({}, [WIDTH, 4], () => undefined))).counts).toEqual({ MatMul: 1 });
  });

  it.each<[string, Draw]>([
    ["with a factor on the MatMul", onRows({ alpha: { float: 0.5 } })],
    ["with a factor on c", onRows({ beta: { float: 2 } })],
    [
      "of one row per text",
      (s, x) => s.op("Gemm", [s.op("Gather", [x, s.index(0)], { axis: 1 }), s.random([WIDTH, 4]), s.random([4])]),
    ],
  ])("%s stays", async (_, draw) => {
    expect((await canonical(draw)).counts["Gemm"]).toBe(1);
  });
});

describe("Einsum", () => {
  const HEADS = 2;
  it("of heads and a weight becomes MatMul", async () => {
    const { counts } = await canonical((s, x) =>
      s.op("Einsum", [x, s.random([WIDTH, HEADS, 3])], { equation: "bsk,kne->bsne" }),
    );
    expect(counts).toEqual({ MatMul: 1, Reshape: 1 });
  });

  it("over two axes and a weight becomes MatMul", async () => {
    const { counts } = await canonical((s, x) =>
      s.op("Einsum", [s.op("Reshape", [x, [0, 0, HEADS, 3]]), s.random([HEADS, 3, 4])], { equation: "bsne,nek->bsk" }),
    );
    expect(counts).toEqual({ MatMul: 1 });
  });

  it.each([
    ["bqnd,bknd->bnqk", { MatMul: 1, Reshape: 1, Transpose: 2 }],
    ["bqnd,bknd->bnkq", { MatMul: 1, Reshape: 1, Transpose: 2 }],
    ["bqnd , bknd -> bqnk", { MatMul: 1, Reshape: 1, Transpose: 3 }],
  ])("of two tensors, %s, becomes MatMul of transposes", async (equation, counts) => {
    const found = await canonical((s, x) => {
      const heads = s.op("Reshape", [x, [0, 0, HEADS, 3]]);
      return s.op("Einsum", [heads, heads], { equation });
    });
    expect(found.counts).toEqual(counts);
  });

  it.each([
    ["bsk,bsk->bs", (x: Value) => [x, x]],
    ["bsk->bks", (x: Value) => [x]],
    ["bsk,btk,bsk->bt", (x: Value) => [x, x, x]],
    ["...k,...k->...k", (x: Value) => [x, x]],
  ])("%s stays", async (equation, operands) => {
    expect((await canonical((s, x) => s.op("Einsum", operands(x), { equation }))).counts).toEqual({ Einsum: 1 });
  });
});

describe("a transposed MatMul", () => {
  const swap = (s: Sketch, x: Value) => s.op("Transpose", [x], { perm: [0, 2, 1] });
  it("of computed tensors becomes a MatMul in the other order", async () => {
    const { graph } = await canonical((s, x) => swap(s, s.op("MatMul", [x, swap(s, s.op("Tanh", [x]))])));
    expect(graph.sorted().at(-1)?.opType).toBe("MatMul");
  });

  it("of attention probabilities stays", async () => {
    const { graph } = await canonical((s, x) => swap(s, s.op("MatMul", [s.op("Softmax", [x]), swap(s, x)])));
    expect(graph.sorted().at(-1)?.opType).toBe("Transpose");
  });

  it("of a weight stays", async () => {
    const { graph } = await canonical((s, x) => swap(s, s.op("MatMul", [x, s.random([WIDTH, WIDTH])])));
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["MatMul", "Transpose"]);
  });

  it("with other axes moved stays", async () => {
    const { graph } = await canonical((s, x) =>
      s.op("Transpose", [s.op("MatMul", [x, swap(s, x)])], { perm: [1, 0, 2] }),
    );
    expect(graph.sorted().at(-1)?.opType).toBe("Transpose");
  });
});

describe("a bias on heads", () => {
  const heads = (s: Sketch, x: Value) => s.op("Reshape", [x, [0, 0, 2, 3]]);
  it("is added before the heads are split", async () => {
    const { graph } = await canonical((s, x) => s.op("Add", [heads(s, x), s.random([2, 3])]));
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["Add", "Reshape"]);
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["times a number", (s, x) => s.op("Mul", [heads(s, x), 0.5])],
    ["after a number times heads", (s, x) => s.op("Mul", [0.5, heads(s, x)])],
  ])("is added before the heads are split, %s", async (_, scaled) => {
    const { graph } = await canonical((s, x) => s.op("Add", [scaled(s, x), s.random([2, 3])]));
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["Mul", "Add", "Reshape"]);
  });

  it("stays if the heads have different scales", async () => {
    const { graph } = await canonical((s, x) =>
      s.op("Add", [s.op("Mul", [heads(s, x), s.random([2, 1])]), s.random([2, 3])]),
    );
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["Reshape", "Mul", "Add"]);
  });

  it.each([
    ["with one element per head element", [3]],
    ["with one element per head", [2, 1]],
  ])("%s stays", async (_, shape) => {
    const { graph } = await canonical((s, x) => s.op("Add", [heads(s, x), s.random(shape)]));
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["Reshape", "Add"]);
  });
});

describe("an arithmetic selection", () => {
  const draw = (s: Sketch, x: Value, opposite: (c: Value) => Value) => {
    const c = s.input("c", ["batch", "sequence", 1], "bool");
    const [yes, no] = [c, opposite(c)].map((each) => s.op("Cast", [each], { to: 1 })) as [Value, Value];
    return s.op("Add", [s.op("Mul", [yes, x]), s.op("Mul", [-1, no])]);
  };

  it("becomes Where", async () => {
    expect((await canonical((s, x) => draw(s, x, (c) => s.op("Not", [c])))).counts).toEqual({ Where: 1 });
  });

  it("with two conditions stays", async () => {
    const { counts } = await canonical((s, x) =>
      draw(s, x, () => s.op("Not", [s.input("d", ["batch", 1, 1], "bool")])),
    );
    expect(counts["Where"]).toBeUndefined();
  });
});

describe("an operator on rows", () => {
  it.each<[string, Draw, Record<string, number>, number?]>([
    [
      "a dense layer",
      (s, x) => back(s, s.op("Add", [s.op("MatMul", [rowsOf(s, x), s.random([WIDTH, 4])]), s.random([4])]), x),
      { MatMul: 1, Add: 1 },
    ],
    [
      "an activation",
      (s, x) => back(s, s.op("Mul", [rowsOf(s, x), s.op("Sigmoid", [rowsOf(s, x)])]), x),
      { Sigmoid: 1, Mul: 1 },
    ],
    [
      "normalization",
      (s, x) => back(s, s.op("LayerNormalization", [rowsOf(s, x), s.random([WIDTH]), s.random([WIDTH])]), x),
      { LayerNormalization: 1 },
    ],
    ["Softmax", (s, x) => back(s, s.op("Softmax", [rowsOf(s, x)], { axis: 1 }), x), { Softmax: 1 }],
    ["Softmax with its default axis", (s, x) => back(s, s.op("Softmax", [rowsOf(s, x)]), x), { Softmax: 1 }, 12],
    [
      "a residual",
      (s, x) => back(s, s.op("Add", [rowsOf(s, x), rowsOf(s, s.input("y", ["batch", "sequence", WIDTH]))]), x),
      { Add: 1 },
    ],
  ])("%s runs on the whole tensor", async (_, draw, counts, opset) => {
    const found = await canonical((s, x) => draw(s, s.op("Tanh", [x])), opset);
    expect(found.counts).toEqual({ Tanh: 1, ...counts });
  });

  it.each<[string, Draw]>([
    ["over rows", (s, x) => s.op("Softmax", [rowsOf(s, x)], { axis: 0 })],
    ["with another tensor of rows", (s, x) => s.op("Add", [rowsOf(s, x), s.op("Tanh", [s.input("rows", [1, WIDTH])])])],
  ])("%s stays", async (_, draw) => {
    const { graph } = await canonical(draw);
    expect(graph.sorted().at(-1)?.opType).not.toBe("Reshape");
  });

  it("with a constant per row stays", async () => {
    const { counts } = await rewritten(
      (s) => s.output(s.op("Add", [s.op("Reshape", [s.input("x", [2, 3, WIDTH]), [6, WIDTH]]), s.random([6, WIDTH])])),
      { optimize: only() },
    );
    expect(counts).toEqual({ Reshape: 1, Add: 1 });
  });
});

const [A, B] = [
  ["batch", 2, "sequence", 4],
  ["batch", 2, 4, "sequence"],
] as const;

const split = (
  a: readonly (number | string)[],
  b: readonly (number | string)[],
  settings: Record<string, SketchAttribute>,
) =>
  rewritten(
    (s: Sketch) => s.output(s.op("FusedMatMul", [s.input("a", a), s.input("b", b)], settings, { domain: MICROSOFT })),
    { optimize: only() },
  );

describe("FusedMatMul", () => {
  it.each<[string, Parameters<typeof split>, Record<string, number>]>([
    ["without settings", [A, B, {}], { MatMul: 1 }],
    ["with alpha", [A, B, { alpha: { float: 0.125 } }], { MatMul: 1, Mul: 1 }],
    ["of a and bᵀ", [A, A, { transB: 1 }], { MatMul: 1, Transpose: 1 }],
    ["of aᵀ and b", [B, B, { transA: 1 }], { MatMul: 1, Transpose: 1 }],
    [
      "of aᵀ and bᵀ with alpha",
      [B, A, { transA: 1, transB: 1, alpha: { float: 2 } }],
      { MatMul: 1, Transpose: 2, Mul: 1 },
    ],
  ])("%s becomes standard operators", async (_, drawn, counts) => {
    expect((await split(...drawn)).counts).toEqual(counts);
  });

  it("whose batch axes are moved stays", async () => {
    const { counts } = await split(["batch", "sequence", 4], ["sequence", 4, "batch"], { transBatchA: 1 });
    expect(counts).toEqual({ FusedMatMul: 1 });
  });
});
