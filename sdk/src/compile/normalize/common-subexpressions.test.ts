import { describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { LARGE_BYTES } from "../files/stored-file.ts";
import type { Value } from "../graph/node.ts";
import { lazyTensor, type Tensor } from "../graph/tensor.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { mergeCommonSubexpressions } from "./common-subexpressions.ts";

const countsAfter = (draw: (s: Sketch, x: Value) => readonly Value[]) => {
  const s = new Sketch();
  draw(s, s.input("x", ["n", 4])).forEach((value, i) => {
    s.output(value, `result ${i}`);
  });
  mergeCommonSubexpressions(s.graph);
  verifyGraph(s.graph);
  return s.graph.sorted().map(({ opType }) => opType);
};

/** Makes a lazy tensor that is filled with one number. */
const large = (fill: number): Tensor =>
  lazyTensor("uint8", [LARGE_BYTES], () => new Uint8Array(LARGE_BYTES).fill(fill));

describe("mergeCommonSubexpressions", () => {
  it("merges equal lazy constants", () => {
    const s = new Sketch();
    for (const [i, fill] of [1, 2, 1].entries()) {
      s.output(s.op("Neg", [s.graph.constant(`large ${i}`, large(fill))]), `result ${i}`);
    }
    mergeCommonSubexpressions(s.graph);
    expect([...s.graph.constants()].map(({ constant }) => constant?.data[0])).toEqual([1, 2]);
  });

  it("merges nodes with the same operator and inputs", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", 4]);
        const branch = () => s.op("Tanh", [s.op("Add", [x, 3])]);
        s.output(s.op("Mul", [branch(), branch()]));
      },
      { optimize: only() },
    );
    expect(counts).toEqual({ Add: 1, Tanh: 1, Mul: 1 });
  });

  it.each<[string, (s: Sketch, x: Value) => readonly Value[]]>([
    ["other inputs", (s, x) => [s.op("Add", [x, 1]), s.op("Add", [x, 2])]],
    ["the order of inputs", (s, x) => [s.op("Sub", [x, 1]), s.op("Sub", [1, x])]],
    ["the position of an omitted input", (s, x) => [s.op("Clip", [x, undefined, 1]), s.op("Clip", [x, 1, undefined])]],
    ["other attributes", (s, x) => [s.op("Softmax", [x], { axis: 0 }), s.op("Softmax", [x], { axis: 1 })]],
    ["a number of another kind", (s, x) => [s.op("A", [x], { a: 1 }), s.op("A", [x], { a: { float: 1 } })]],
    [
      "an infinite attribute",
      (s, x) => [s.op("A", [x], { a: { float: Infinity } }), s.op("A", [x], { a: { float: -Infinity } })],
    ],
    ["another domain", (s, x) => [s.op("Gelu", [x]), s.op("Gelu", [x], {}, { domain: "com.microsoft" })]],
    [
      "constants of another shape",
      (s, x) => [s.op("Add", [x, s.floats([1], [1])]), s.op("Add", [x, s.floats([1, 1], [1])])],
    ],
    ["random numbers", (s, x) => [s.op("RandomNormalLike", [x]), s.op("RandomNormalLike", [x])]],
    [
      "the random choices of Dropout",
      (s, x) => [s.op("Dropout", [x, 0.5, s.input("a", [], "bool")]), s.op("Dropout", [x, 0.5, s.graph.inputs[1]])],
    ],
    ["sub-graphs", (s, x) => [0, 1].map(() => s.op("If", [x], {}, { captures: [x] }))],
  ])("does not merge nodes that differ in %s", (_, draw) => {
    expect(countsAfter(draw)).toHaveLength(2);
  });

  it("compares all bytes of constants", () => {
    const s = new Sketch();
    const x = s.input("x", ["n", 40]);
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    for (const [i, last] of [39, 39, 40].entries()) {
      s.output(s.op("Add", [x, s.floats([40], numbers.with(39, last))]), `result ${i}`);
    }
    mergeCommonSubexpressions(s.graph);
    expect(s.graph.constants().size).toBe(2);
    expect(s.graph.nodes.size).toBe(2);
  });

  it("merges all outputs of a node", () => {
    const halves = (s: Sketch, x: Value) =>
      s.node("Split", [x], { axis: 1 }, { outputs: ["a", "b"] }).outputs[1] as Value;
    expect(countsAfter((s, x) => [s.op("Tanh", [halves(s, x)]), s.op("Erf", [halves(s, x)])])).toEqual([
      "Split",
      "Tanh",
      "Erf",
    ]);
  });
});
