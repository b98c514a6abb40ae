import { describe, expect, it } from "vitest";
import { attribute, declarationOf, modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import type { Value } from "../graph/node.ts";
import { float32Scalar, int64s, type Tensor, tensor } from "../graph/tensor.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { runSubgraph } from "./run-subgraph.ts";

const floats = (...values: number[]): Tensor => tensor("float32", [values.length], Float32Array.from(values));

describe("runSubgraph", () => {
  it("computes values from constants and given values", async () => {
    const s = new Sketch();
    const x = s.input("x", [2]);
    const sum = s.op("Add", [x, s.floats([2], [10, 20])]);
    const [product, whole] = [s.op("Mul", [sum, 3]), s.op("Cast", [sum], { to: CAST.int64 })];
    const results = await runSubgraph(s.graph, [product, whole, x], new Map([[x, floats(1, 2)]]));
    expect(results).toEqual([floats(33, 66), int64s(11, 22), floats(1, 2)]);
  });

  it("does not run nodes before the given values", async () => {
    const s = new Sketch();
    const broken = s.op("NoSuchOperator", [s.input("x", [2])], {}, { domain: "example.com" });
    const neg = s.op("Neg", [broken]);
    expect(await runSubgraph(s.graph, [neg], new Map([[broken, floats(1)]]))).toEqual([floats(-1)]);
    expect(await runSubgraph(s.graph, [neg], new Map())).toBeUndefined();
  });

  it("prefers a given value to a constant", async () => {
    const s = new Sketch();
    const one = s.constant(float32Scalar(1));
    const neg = s.op("Neg", [one]);
    expect(await runSubgraph(s.graph, [neg], new Map([[one, floats(5)]]))).toEqual([floats(-5)]);
  });

  it("returns undefined if a value is missing or cannot be computed", async () => {
    const s = new Sketch();
    const sum = s.op("Add", [s.input("x", [2]), 1]);
    const mismatch = s.op("Add", [s.floats([2], [1, 2]), s.floats([3], [1, 2, 3])]);
    const quotient = s.op("Div", [[1], [0]]);
    for (const value of [sum, mismatch, quotient]) {
      expect(await runSubgraph(s.graph, [value], new Map())).toBeUndefined();
    }
  });

  it.each([0, -1])("refuses an integer division by %d, which would end the process", async (divisor) => {
    const s = new Sketch();
    const least = s.constant(tensor("int64", [1], BigInt64Array.of(-(2n ** 63n))));
    const quotient = s.op("Div", [least, [divisor]]);
    expect(await runSubgraph(s.graph, [quotient], new Map())).toBeUndefined();
    const computed = s.op("Mod", [least, s.op("Neg", [[-divisor]])]);
    expect(await runSubgraph(s.graph, [computed], new Map())).toBeUndefined();
    expect(await runSubgraph(s.graph, [s.op("Div", [least, [2]])], new Map())).toEqual([
      tensor("int64", [1], BigInt64Array.of(-(2n ** 62n))),
    ]);
  });

  it("runs nodes with omitted inputs and outputs", async () => {
    const s = new Sketch();
    const x = s.input("x", [2]);
    const clipped = s.op("Clip", [x, undefined, 0]);
    const settings = { epsilon: { float: 1 / 16 } };
    const norm = s.node("LayerNormalization", [clipped, s.floats([2], [1, 1])], settings, {
      outputs: ["y", "", "deviation"],
    });
    const results = await runSubgraph(s.graph, [norm.outputs[2] as Value], new Map([[x, floats(3, 9)]]));
    expect(results).toEqual([floats(4)]);
  });

  it("runs sub-graphs with the outer values they read", async () => {
    const branch = (opType: string) => ({ node: [nodeOf(`t = ${opType}(outer)`)], output: [declarationOf("t")] });
    const branches = [attribute.graph("then_branch", branch("Exp")), attribute.graph("else_branch", branch("Neg"))];
    const graph = fromOnnx(
      modelOf({
        input: [declarationOf("condition", [], "bool"), declarationOf("x", [2])],
        node: [nodeOf("outer = Abs(x)"), nodeOf("y = If(condition)", branches)],
        output: [declarationOf("y")],
      }),
    );
    const [condition, x] = graph.inputs as [Value, Value];
    const given = new Map([
      [condition, { dtype: "bool", shape: [], data: Uint8Array.of(0) } as Tensor],
      [x, floats(-1, 2)],
    ]);
    expect(await runSubgraph(graph, [graph.outputs[0]?.value as Value], given)).toEqual([floats(-1, -2)]);
    verifyGraph(graph);
  });

  it("does not change the graph", async () => {
    const s = new Sketch();
    const x = s.input("x", [1]);
    const y = s.op("Neg", [s.op("Exp", [x])]);
    s.output(y);
    const before = printGraph(s.graph);
    await runSubgraph(s.graph, [y], new Map([[x, floats(1)]]));
    expect(printGraph(s.graph)).toBe(before);
    verifyGraph(s.graph);
  });

  it("runs long chains", async () => {
    const s = new Sketch();
    let value = s.floats([1], [1]);
    for (let i = 0; i < runs(4_000, 15_000); i++) value = s.op("Neg", [value]);
    expect(await runSubgraph(s.graph, [value], new Map())).toEqual([floats(1)]);
  });
});
