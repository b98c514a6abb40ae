import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

type Draw = (s: Sketch, x: Value) => Value;
const canonical = (draw: Draw, opset?: number) =>
  rewritten((s) => s.output(s.op("Tanh", [draw(s, s.op("Erf", [s.input("x", ["batch", "sequence", 12])]))])), {
    optimize: only(),
    ...(opset && { opset }),
  });
const size = (s: Sketch, x: Value, axis: number) =>
  s.op("Unsqueeze", [s.op("Gather", [s.op("Shape", [x]), s.index(axis)]), [0]]);
const concat = (s: Sketch, ...parts: (Value | number[])[]) => s.op("Concat", parts, { axis: 0 });
const targets = async (draw: Draw) => {
  const { graph, counts } = await canonical(draw);
  const targets = graph.sorted().flatMap(({ opType, inputs }) => (opType === "Reshape" ? [inputs[1]?.content] : []));
  return { targets, counts };
};

describe("views of a tensor", () => {
  it.each<[string, Draw, number[]]>([
    [
      "a computed target",
      (s, x) => s.op("Reshape", [x, concat(s, size(s, x, 0), size(s, x, 1), [3], [4])]),
      [0, 0, 3, 4],
    ],
    ["two Reshapes", (s, x) => s.op("Reshape", [s.op("Reshape", [x, [0, 0, 3, 4]]), [0, 0, 2, 6]]), [0, 0, 2, 6]],
    ["Unsqueeze", (s, x) => s.op("Unsqueeze", [x, [2]]), [0, 0, 1, 12]],
    [
      "Unsqueeze and Squeeze",
      (s, x) => s.op("Squeeze", [s.op("Unsqueeze", [s.op("Reshape", [x, [0, 0, 3, 4]]), [2, 4]]), [4]]),
      [0, 0, 1, 3, 4],
    ],
    ["Flatten", (s, x) => s.op("Flatten", [x], { axis: 2 }), [-1, 12]],
  ])("%s become one Reshape to a constant target", async (_, draw, target) => {
    expect(await targets(draw)).toEqual({ targets: [target], counts: { Erf: 1, Tanh: 1, Reshape: 1 } });
  });

  it("that cancel each other are removed", async () => {
    const back: Draw = (s, x) =>
      s.op("Reshape", [s.op("Reshape", [x, [-1, 12]]), concat(s, size(s, x, 0), size(s, x, 1), [12])]);
    expect((await targets(back)).targets).toEqual([]);
  });

  it("keep a computed target if two dynamic sizes change their axes", async () => {
    const swapped: Draw = (s, x) => s.op("Reshape", [x, concat(s, size(s, x, 1), size(s, x, 0), [12])]);
    const { graph } = await canonical(swapped);
    expect(graph.sorted().at(-2)?.inputs[1]?.isConstant).toBe(false);
  });
});

describe("transposes", () => {
  it("in a row become one", async () => {
    const { counts, graph } = await canonical((s, x) =>
      s.op("Transpose", [s.op("Transpose", [x], { perm: [1, 2, 0] })], { perm: [0, 2, 1] }),
    );
    expect(counts).toEqual({ Erf: 1, Transpose: 1, Tanh: 1 });
    expect(graph.sorted()[1]?.ints("perm")).toEqual([1, 0, 2]);
  });

  it("that cancel each other are removed even if the value in between has other readers", async () => {
    const { counts } = await canonical((s, x) => {
      const between = s.op("Transpose", [x], { perm: [1, 2, 0] });
      s.output(between, "between");
      return s.op("Transpose", [between], { perm: [2, 0, 1] });
    });
    expect(counts).toEqual({ Erf: 1, Transpose: 1, Tanh: 1 });
  });
});

describe("a chain of movements", () => {
  const chain = (s: Sketch, x: Value, middle: number[]) => {
    const heads = s.op("Transpose", [s.op("Reshape", [x, [0, 0, 3, 4]])], { perm: [0, 2, 1, 3] });
    const rows = s.op("Reshape", [heads, concat(s, [-1], size(s, x, 1), [4])]);
    const moved = s.op("Transpose", [rows], { perm: middle });
    return s.op("Reshape", [moved, concat(s, size(s, x, 0), [3], [4], size(s, x, 1))]);
  };

  it("with the effect of one Transpose becomes a Transpose", async () => {
    const { counts } = await canonical((s, x) => chain(s, x, [0, 2, 1]));
    expect(counts).toEqual({ Erf: 1, Reshape: 1, Transpose: 1, Tanh: 1 });
  });

  it("with another effect stays", async () => {
    const { counts } = await canonical((s, x) => chain(s, x, [0, 1, 2]));
    expect(counts).toMatchObject({ Reshape: 2, Transpose: 1 });
  });
});

describe("a size of a computed value", () => {
  it("is read from an input", async () => {
    const { graph } = await canonical((s, x) => {
      const y = s.op("Exp", [s.op("MatMul", [x, s.random([12, 12])])]);
      return s.op("Add", [x, s.op("Cast", [size(s, y, 1)], { to: 1 })]);
    });
    const [shape] = graph.sorted().filter(({ opType }) => opType === "Shape");
    expect(shape?.inputs[0]?.name).toBe("x");
    expect([...graph.nodes].map(({ opType }) => opType)).not.toContain("Exp");
  });

  it("stays if no input has it", async () => {
    const { graph } = await canonical((s, x) => {
      const present = s.op("NonZero", [x]);
      return s.op("Add", [x, s.op("Cast", [size(s, present, 1)], { to: 1 })]);
    });
    expect([...graph.nodes].map(({ opType }) => opType)).toContain("NonZero");
  });
});

describe("sizes of a computed value", () => {
  /**
   * Adds the input `b` to a value that is computed from the input `a`. Shape inference assumes that `a` and `b` have
   * the same length, but at run time `a` may have only one element.
   */
  const added = (names: readonly ("a" | "b")[]) => (s: Sketch) => {
    const inputs = new Map(names.map((name) => [name, s.input(name, [`length of ${name}`])]));
    const computed = s.op("Relu", [inputs.get("a")]);
    s.output(s.op("Add", [computed, inputs.get("b")]), "sum");
    s.output(s.op("Shape", [computed]), "sizes");
  };

  it.each([[["a", "b"] as const], [["b", "a"] as const]])(
    "come from an input that the value is computed from: inputs %j",
    async (names) => {
      const { graph } = await rewritten(added(names), {
        optimize: only(),
        sizes: [
          { "length of a": 1, "length of b": 4 },
          { "length of a": 4, "length of b": 4 },
        ],
      });
      const sources = [...graph.nodes].filter((node) => node.is("Shape")).map(({ inputs }) => inputs[0]?.name);
      expect(sources).not.toContain("b");
    },
  );

  it("come from the input if they are multiples of its sizes", async () => {
    const { graph } = await rewritten(
      (s) => {
        const x = s.op("Relu", [s.input("x", ["batch", "sequence"])]);
        s.output(s.op("Shape", [s.op("Concat", [x, x, x], { axis: 1 })]));
      },
      { optimize: only() },
    );
    expect([...graph.nodes].some((node) => node.is("Relu"))).toBe(false);
  });

  it("come from the input, so that the value need not be computed", async () => {
    const { graph } = await rewritten(
      (s) => s.output(s.op("Shape", [s.op("Relu", [s.input("x", ["batch", "sequence", 4])])])),
      { optimize: only() },
    );
    expect([...graph.nodes].some((node) => node.is("Relu"))).toBe(false);
  });
});
