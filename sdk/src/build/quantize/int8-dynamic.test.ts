import { describe, expect, it } from "vitest";
import { attendedStates, randomBatch } from "../../../../test/suites/encoder-batch.ts";
import { fusedGraph } from "../../../../test/suites/fused-graph.ts";
import { NamedGraph } from "../../../../test/suites/named-graph.ts";
import { type TinyOptions, tinyBert } from "../../../../test/suites/tiny-bert.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { print } from "../graph/print.ts";
import { tensor } from "../graph/tensor.ts";
import { encodeOnnx } from "../onnx/encode.ts";
import { inferShapes } from "../shapes/infer.ts";
import { quantizeInt8Dynamic } from "./int8-dynamic.ts";

/** Of a state to that of the float32 model. Two layers of random weights measure 0.9993 at worst over six seeds. */
const LEAST_COSINE = 0.999;

const batch = randomBatch(
  [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 1, 1, 0, 1, 0],
  ],
  50,
);
const fusedTiny = (options?: TinyOptions) => {
  const { config, weights } = tinyBert(options);
  return fusedGraph(config, weights);
};

describe("quantizeInt8Dynamic", () => {
  it.each<[string, TinyOptions]>([
    ["blocks of 32", {}],
    ["blocks of 16", { config: { hidden_size: 48 } }],
    ["a width that no block divides", { config: { hidden_size: 24 } }],
    ["other weights", { seed: 2 }],
  ])("stays close to the float32 model under every padding, with %s", async (_, options) => {
    const { config, weights } = tinyBert(options);
    const expected = await attendedStates(encoderGraph(config, weights), batch);
    const states = await attendedStates(quantizeInt8Dynamic(await fusedGraph(config, weights)), batch);
    expect(states).toHaveLength(expected.length);
    states.forEach((state, i) => {
      expect(cosine(state, expected[i] as Float32Array)).toBeGreaterThan(LEAST_COSINE);
    });
  });

  it("leaves no product of weights in float32", async () => {
    const operators = new Set([...quantizeInt8Dynamic(await fusedTiny()).nodes].map(({ opType }) => opType));
    for (const quantized of ["DynamicQuantizeMatMul", "QAttention", "GatherBlockQuantized"]) {
      expect(operators).toContain(quantized);
    }
    for (const float of ["MatMul", "Attention", "EmbedLayerNormalization"]) expect(operators).not.toContain(float);
  });

  it("makes the file of a model whose bytes are weights a quarter as large", async () => {
    const graph = await fusedTiny({ config: { vocab_size: 2000, hidden_size: 128, intermediate_size: 512 } });
    const ratio = encodeOnnx(quantizeInt8Dynamic(graph)).length / encodeOnnx(graph).length;
    expect(ratio).toBeGreaterThan(1 / 4);
    // Scales, biases, position and type tables stay in float32.
    expect(ratio).toBeLessThan(1 / 4 + 0.03);
  });

  it.each([
    ["a word table that is looked up on its own in a quarter of its bytes", 8192, "GatherBlockQuantized"],
    ["a small table as it is", 64, "Gather"],
  ])("keeps %s", (_, rows, operator) => {
    const g = new NamedGraph("lookup", [{ name: "ids", dtype: "int64", shape: ["n"] }]);
    const table = tensor(
      "float32",
      [rows, 32],
      Float32Array.from({ length: rows * 32 }, (_, i) => Math.sin(i)),
    );
    g.op("y", "Gather", [g.constant("table", table), "ids"]);
    const graph = g.outputs("y");
    inferShapes(graph);
    expect([...quantizeInt8Dynamic(graph).nodes].map(({ opType }) => opType)).toEqual([operator]);
  });

  it("leaves products of two computed values as they are", () => {
    const value = (name: string) => ({ name, dtype: "float32" as const, shape: ["n", "n"] });
    const g = new NamedGraph("product", [value("a"), value("b")]);
    g.op("y", "MatMul", ["a", "b"]);
    const graph = g.outputs("y");
    inferShapes(graph);
    expect(print(quantizeInt8Dynamic(graph))).toBe(print(graph));
  });

  it("changes nothing in the graph it is given", async () => {
    const graph = await fusedTiny();
    const before = encodeOnnx(graph);
    quantizeInt8Dynamic(graph);
    expect(Buffer.compare(encodeOnnx(graph), before)).toBe(0);
  });
});
