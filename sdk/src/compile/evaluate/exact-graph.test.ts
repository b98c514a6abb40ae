import { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { overflowsInt8 } from "../../runtime/engine/ort-node/overflows-int8.ts";
import { Graph } from "../graph/graph.ts";
import { MICROSOFT } from "../graph/node.ts";
import { float32Scalar, tensor } from "../graph/tensor.ts";
import { exactGraph, withUnsignedWeights } from "./exact-graph.ts";

const [DEPTH, COLUMNS] = [24, 5];
const random = randomNumbers(3);
const bytes = Uint8Array.from({ length: DEPTH }, () => Math.floor(random() * 256));
const weights = Int8Array.from({ length: DEPTH * COLUMNS }, () => Math.floor(random() * 256) - 128);
const zeros = Int8Array.from({ length: COLUMNS }, () => Math.floor(random() * 20) - 10);

/** The exact sums of products, minus the zero points of the columns. */
const sums = (zeroOf: (column: number) => number): number[] =>
  Array.from({ length: COLUMNS }, (_, column) =>
    bytes.reduce((sum, byte, i) => sum + byte * ((weights[i * COLUMNS + column] ?? 0) - zeroOf(column)), 0),
  );

function withMatMul(draw: (graph: Graph) => void): Graph {
  const graph = new Graph("matmul");
  graph.opsets.set("", 17);
  graph.opsets.set(MICROSOFT, 1);
  draw(graph);
  return graph;
}

const inputOf = (graph: Graph) => graph.input("a", { dtype: "uint8", shape: [1, DEPTH] });
const weightOf = (graph: Graph) => graph.constant("w", tensor("int8", [DEPTH, COLUMNS], weights));
const zeroOf = (graph: Graph) => graph.constant("z", tensor("int8", [COLUMNS], zeros));
const scale = (graph: Graph) => graph.constant("s", float32Scalar(1));
const asOutput = (graph: Graph, { output }: ReturnType<Graph["add"]>) =>
  void graph.outputs.push({ name: "y", value: output, declaration: undefined });

const typesOf = (graph: Graph) => [...graph.constants()].map(({ constant }) => constant?.dtype);

/** Runs a graph on the bytes, without onnxruntime's optimizations. */
async function outputOf(graph: Graph): Promise<number[]> {
  const [outputs] = await runGraph(graph, [{ a: new Tensor("uint8", bytes, [1, DEPTH]) }]);
  return Array.from(outputs?.["y"]?.data as Int32Array);
}

type Case = [name: string, draw: (graph: Graph) => void, expected: number[]];
const cases: Case[] = [
  [
    "MatMulInteger",
    (graph) => asOutput(graph, graph.add("MatMulInteger", [inputOf(graph), weightOf(graph)])),
    sums(() => 0),
  ],
  [
    "MatMulInteger with a zero point for every column",
    (graph) => asOutput(graph, graph.add("MatMulInteger", [inputOf(graph), weightOf(graph), undefined, zeroOf(graph)])),
    sums((column) => zeros[column] ?? 0),
  ],
  [
    "MatMulIntegerToFloat",
    (graph) => {
      const inputs = [inputOf(graph), weightOf(graph), scale(graph), scale(graph), undefined, zeroOf(graph)];
      asOutput(graph, graph.add("MatMulIntegerToFloat", inputs, { domain: MICROSOFT }));
    },
    sums((column) => zeros[column] ?? 0),
  ],
  [
    "DequantizeLinear and MatMul",
    (graph) => {
      const scales = graph.constant("scales", tensor("float32", [COLUMNS], new Float32Array(COLUMNS).fill(1)));
      const weight = graph.add("DequantizeLinear", [weightOf(graph), scales]).output;
      const a = graph.add("DequantizeLinear", [inputOf(graph), scale(graph)]).output;
      asOutput(graph, graph.add("MatMul", [a, weight]));
    },
    sums(() => 0),
  ],
];

describe("exactGraph", () => {
  it.each(cases)("gives exact sums on this CPU, and leaves the graph as it is: %s", async (_, draw, expected) => {
    const graph = withMatMul(draw);
    const before = typesOf(graph);
    const exact = await exactGraph(graph);
    expect(await outputOf(exact)).toEqual(expected);
    expect(exact !== graph).toBe(await overflowsInt8());
    expect(typesOf(exact).includes("int8")).toBe(!(await overflowsInt8()));
    expect(typesOf(graph)).toEqual(before);
  });

  it("is the same graph if there are no int8 weights", async () => {
    const graph = withMatMul((graph) => {
      const a = graph.add("DequantizeLinear", [inputOf(graph), scale(graph)]).output;
      const weight = graph.constant("w", tensor("float32", [DEPTH, COLUMNS], new Float32Array(DEPTH * COLUMNS)));
      asOutput(graph, graph.add("MatMul", [a, weight]));
    });
    expect(await exactGraph(graph)).toBe(graph);
  });
});

describe("withUnsignedWeights", () => {
  it.each(cases)("gives exact sums on every CPU: %s", async (_, draw, expected) => {
    const graph = withUnsignedWeights(withMatMul(draw));
    expect(await outputOf(graph)).toEqual(expected);
    expect(typesOf(graph)).not.toContain("int8");
  });

  it("keeps weights that are not constant", () => {
    const graph = withMatMul((graph) => {
      const weight = graph.input("w", { dtype: "int8", shape: [DEPTH, COLUMNS] });
      asOutput(graph, graph.add("MatMulInteger", [inputOf(graph), weight]));
    });
    const [node] = withUnsignedWeights(graph).nodes;
    expect(node?.inputs.map((input) => input?.name)).toEqual(["a", "w"]);
  });
});
