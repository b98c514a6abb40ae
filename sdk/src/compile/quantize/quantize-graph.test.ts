import { describe, expect, it } from "vitest";
import { attendedStates, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { toOrt } from "../evaluate/ort-session.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { int, ints, MICROSOFT } from "../graph/node.ts";
import { tensor } from "../graph/tensor.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { embeddingNodes, type QuantizationScheme, quantizableNodes, quantizeGraph } from "./quantize-graph.ts";
import { int8Dynamic } from "./schemes/int8-dynamic.ts";
import { int8Edge } from "./schemes/int8-edge.ts";
import { matMulNBits } from "./schemes/matmul-nbits.ts";
import { weightQuantizer } from "./weights/weight-quantizer.ts";

/** Minimum cosine between quantized and float32 hidden states. Measured: 0.9997 at worst. */
const MIN_COSINE = 0.999;
/** Minimum cosine with gated feed-forward blocks, which multiply two rounded numbers. Measured: 0.9980 at worst. */
const MIN_GATED_COSINE = 0.997;

const toNearest = weightQuantizer({ clipping: false, gptq: false, biasCorrection: false });
const schemes: [string, () => QuantizationScheme][] = [
  ["int8-dynamic", () => int8Dynamic()],
  ["MatMulNBits", () => matMulNBits({ bits: 8, block: 32 })],
  ["edge", () => int8Edge()],
];
const batch = randomBatch(
  [
    [1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0],
  ],
  50,
);
const fusedTiny = () => {
  const { config, weights: values } = tinyBert();
  return fusedGraph(config, values);
};
const sines = (...shape: number[]) =>
  tensor(
    "float32",
    shape,
    Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i)),
  );

/** Draws a graph with one node, which reads x [batch, sequence, 32] and constants of the given shapes. */
function drawn(opType: string, shapes: readonly number[][], attributes = {}, domain = MICROSOFT, opset = 17): Graph {
  const g = new NamedGraph("drawn", [{ name: "x", dtype: "float32", shape: ["batch", "sequence", 32] }], opset);
  const inputs = ["x", ...shapes.map((shape, i) => g.constant(`c${i}`, sines(...shape)))];
  const graph = g.outputs(
    domain ? g.contrib("node", opType, inputs, attributes) : g.op("node", opType, inputs, attributes),
  );
  inferShapes(graph);
  return graph;
}

describe.each(schemes)("quantizeGraph, %s", (name, scheme) => {
  it("does not change the graph it is given", async () => {
    const graph = await fusedTiny();
    const before = encodeOnnx(graph);
    verifyGraph(await quantizeGraph(graph, scheme(), toNearest));
    expect(Buffer.compare(encodeOnnx(graph), before)).toBe(0);
  });

  it("keeps only the nodes in float32 that are not chosen", async () => {
    const graph = await fusedTiny();
    const names = quantizableNodes(graph);
    expect(names).toHaveLength(9);
    for (const kept of [[], ...names.map((name) => [name]), names.slice(2, 5)]) {
      const graphWith = await quantizeGraph(graph, scheme(), toNearest, {
        isChosen: (name) => !kept.includes(name),
      });
      expect(quantizableNodes(graphWith)).toEqual(kept);
    }
  });

  it("quantizes nothing if nothing is chosen", async () => {
    const graph = await fusedTiny();
    expect(printGraph(await quantizeGraph(graph, scheme(), toNearest, { isChosen: () => false }))).toBe(
      printGraph(graph),
    );
  });

  it("stores a weight that two layers share once", async () => {
    const g = new NamedGraph("shared", [{ name: "x", dtype: "float32", shape: ["n", 32] }]);
    g.constant("shared", sines(32, 32));
    const graph = g.outputs(g.op("second", "MatMul", [g.op("first", "MatMul", ["x", "shared"]), "shared"]));
    inferShapes(graph);
    const [first, second, ...others] = [...(await quantizeGraph(graph, scheme(), toNearest)).nodes];
    expect(others).toEqual([]);
    expect(first?.inputs[1]?.constant?.dtype).toMatch(/^u?int8$/);
    expect(second?.inputs.slice(1)).toEqual(first?.inputs.slice(1));
  });

  it.each<[string, () => Graph]>([
    ["few outputs", () => drawn("MatMul", [[32, 15]], {}, "")],
    ["a weight with three dimensions", () => drawn("MatMul", [[1, 32, 32]], {}, "")],
    [
      "values narrower than queries and keys",
      () => drawn("Attention", [[32, 80], [80]], { num_heads: int(4), qkv_hidden_sizes: ints(32, 32, 16) }),
    ],
    [
      "two computed values",
      () => {
        const value = (name: string) => ({ name, dtype: "float32" as const, shape: ["n", "n"] });
        const g = new NamedGraph("matmul", [value("a"), value("b")]);
        const graph = g.outputs(g.op("y", "MatMul", ["a", "b"]));
        inferShapes(graph);
        return graph;
      },
    ],
  ])("does not change a MatMul with %s", async (_, draw) => {
    const graph = draw();
    expect(quantizableNodes(graph)).toEqual([]);
    expect(printGraph(await quantizeGraph(graph, scheme(), toNearest))).toBe(printGraph(graph));
  });

  it.each([
    ["in a quarter of its bytes if it is large", 8192, 0, "GatherBlockQuantized"],
    // The edge engine can only look up quantized tables.
    [
      "unchanged if it is small, except for the edge engine",
      64,
      0,
      name === "edge" ? "GatherBlockQuantized" : "Gather",
    ],
    ["unchanged if the Gather reads columns", 8192, 1, "Gather"],
  ])("stores the embedding table of a Gather %s", async (_, rows, axis, operator) => {
    const g = new NamedGraph("lookup", [{ name: "ids", dtype: "int64", shape: ["n"] }]);
    const graph = g.outputs(g.op("y", "Gather", [g.constant("table", sines(rows, 32)), "ids"], { axis: int(axis) }));
    inferShapes(graph);
    expect(embeddingNodes(graph)).toEqual(rows > 64 && axis === 0 ? ["y"] : []);
    expect([...(await quantizeGraph(graph, scheme(), toNearest)).nodes].map(({ opType }) => opType)).toEqual([
      operator,
    ]);
  });
});

describe("quantizeGraph", () => {
  it.each(schemes.slice(0, 2))("keeps attention causal, and close to float32, in %s", async (_, scheme) => {
    const graph = await fusedTiny();
    const causal = copyGraph(graph);
    for (const node of causal.sorted()) {
      if (node.opType !== "Attention") continue;
      const { output } = causal.add("Attention", node.inputs, {
        ...node,
        outputs: [`${node.name}.causal`],
        attributes: { ...node.attributes, unidirectional: int(1) },
      });
      causal.replace(node.output, output);
    }
    causal.prune();
    const [wanted, free] = [await attendedStates(causal, batch), await attendedStates(graph, batch)];
    const found = await attendedStates(await quantizeGraph(causal, scheme(), toNearest), batch);
    const minCosine = (a: readonly Float32Array[], b: readonly Float32Array[]) =>
      Math.min(...a.map((state, i) => cosine(state, b[i] as Float32Array)));
    expect(minCosine(free, wanted)).toBeLessThan(MIN_COSINE);
    expect(minCosine(found, wanted)).toBeGreaterThan(MIN_COSINE);
  });

  it("does not quantize causal attention for the edge engine", async () => {
    const causal = { num_heads: int(4), unidirectional: int(1) };
    const counts = countOperators(
      await quantizeGraph(drawn("Attention", [[32, 96], [96]], causal), int8Edge(), toNearest),
    );
    expect(counts).toEqual({ DynamicQuantizeMatMul: 1, Split: 1, MultiHeadAttention: 1 });
  });

  it.each([13, 17, 18, 21])("splits projections in opset %d", async (opset) => {
    const graph = drawn("Attention", [[32, 96], [96]], { num_heads: int(4) }, MICROSOFT, opset);
    const quantized = await quantizeGraph(graph, matMulNBits({ bits: 8, block: 32 }), toNearest);
    expect(countOperators(quantized)).toEqual({ MatMulNBits: 1, Split: 1, MultiHeadAttention: 1 });
    const feeds = [{ x: toOrt(sines(2, 5, 32)) }];
    const [[found], [wanted]] = [await runGraph(quantized, feeds), await runGraph(graph, feeds)];
    const numbers = (tensors: typeof found) => Object.values(tensors ?? {})[0]?.data as Float32Array;
    expect(cosine(numbers(found), numbers(wanted))).toBeGreaterThan(MIN_COSINE);
  });

  it.each(schemes.slice(0, 2))(
    "stays close to float32 with rotary embeddings, attention windows and gated feed-forward blocks, in %s",
    async (_, scheme) => {
      const { config, weights: values } = tinyModernBert();
      const graph = await fusedGraph(config, values);
      const [found, wanted] = [
        await attendedStates(await quantizeGraph(graph, scheme(), toNearest), batch),
        await attendedStates(graph, batch),
      ];
      found.forEach((state, i) => {
        expect(cosine(state, wanted[i] as Float32Array)).toBeGreaterThan(MIN_GATED_COSINE);
      });
    },
  );
});
