import { describe, expect, it } from "vitest";
import { statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { toOrt } from "../../evaluate/ort-session.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { int } from "../../graph/node.ts";
import { int64s, numbersOf, type Tensor, tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { linearLayersOf } from "../linear-layers.ts";
import type { ActivationStatistics } from "./activation-statistics.ts";
import { observeStatistics } from "./observe-statistics.ts";

/** Rounding error of float32 sums, relative to their largest term: measured 4.0 · 10⁻⁸ at worst. */
const FLOAT32_ROUNDING = 2e-7;

const WIDTH = 16;
const masks = [
  [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 1, 1, 1],
  ],
  [[1, 1, 1, 0]],
];
const batches = masks.map((mask, i) => calibrationBatch(randomBatch(mask, 50, i + 1)));

/** Returns the input rows of each linear layer, without padding, by name of the weight matrix. */
async function tokensRead(graph: Graph, given: readonly TokenBatch[]): Promise<Map<string, Float32Array[]>> {
  const copy = copyGraph(graph);
  const layers = linearLayersOf(copy);
  copy.outputs.length = 0;
  layers.forEach(({ x }, i) => {
    copy.outputs.push({ name: `x.${i}`, value: x, declaration: undefined });
  });
  const names = new Set(copy.inputs.map(({ name }) => name));
  const feeds = given.map((batch) =>
    Object.fromEntries([...batch].filter(([name]) => names.has(name)).map(([name, value]) => [name, toOrt(value)])),
  );
  const read = new Map<string, Float32Array[]>();
  (await runGraph(copy, feeds)).forEach((outputs, at) => {
    const mask = given[at]?.get("attention_mask");
    const isToken = mask && numbersOf(mask);
    layers.forEach(({ weight }, i) => {
      const { data, dims } = outputs[`x.${i}`] as { data: Float32Array; dims: readonly number[] };
      const width = dims.at(-1) as number;
      const rows = Array.from({ length: data.length / width }, (_, row) => data.slice(row * width, (row + 1) * width));
      const counted = rows.filter((_, row) => dims.length !== 3 || !isToken || isToken[row] === 1);
      read.set(weight.name, [...(read.get(weight.name) ?? []), ...counted]);
    });
  });
  return read;
}

function expectStatistics(found: ActivationStatistics | undefined, rows: readonly Float32Array[]): void {
  const wanted = statisticsOf(rows);
  expect(found).toMatchObject({ width: wanted.width, tokens: wanted.tokens });
  for (const part of ["sum", "gram"] as const) {
    const largest = rows.length * Math.max(...rows.flatMap((row) => [...row]).map((value) => Math.max(1, value ** 2)));
    expect(found?.[part]).toHaveLength(wanted[part].length);
    const differences = wanted[part].map((value, i) => Math.abs((found?.[part][i] as number) - value));
    expect(differences.every((difference) => difference < FLOAT32_ROUNDING * largest)).toBe(true);
  }
}

async function expectObserved(graph: Graph, given: readonly TokenBatch[]) {
  const calibration = await observeStatistics(graph, given);
  const read = await tokensRead(graph, given);
  expect([...calibration.keys()].sort()).toEqual([...read.keys()].sort());
  for (const [name, rows] of read) expectStatistics(calibration.get(name), rows);
  return calibration;
}

const fusedTiny = () => {
  const { config, weights } = tinyBert();
  return fusedGraph(config, weights);
};

function matrix(seed: number, inputs = WIDTH, outputs = WIDTH): Tensor {
  const random = randomNumbers(seed);
  return tensor(
    "float32",
    [inputs, outputs],
    Float32Array.from({ length: inputs * outputs }, () => random() - 0.5),
  );
}

/** Draws a graph that reads x [batch, sequence, 16] and, by default, a mask. */
function drawn(draw: (g: NamedGraph) => string, { masked = true, opset = 17 } = {}): Graph {
  const sizes = ["batch", "sequence"];
  const mask = { name: "attention_mask", dtype: "int64" as const, shape: sizes };
  const x = { name: "x", dtype: "float32" as const, shape: [...sizes, WIDTH] };
  const g = new NamedGraph("drawn", masked ? [x, mask] : [x], opset);
  const graph = g.outputs(draw(g));
  inferShapes(graph);
  return graph;
}
const drawnBatch = (value = (_: number, random: number) => random): TokenBatch => {
  const random = randomNumbers(3);
  const x = Float32Array.from({ length: 2 * 3 * WIDTH }, (_, i) => value(i, 2 * random() - 1));
  return new Map([
    ["x", tensor("float32", [2, 3, WIDTH], x)],
    ["attention_mask", tensor("int64", [2, 3], BigInt64Array.of(1n, 1n, 1n, 1n, 0n, 0n))],
  ]);
};

describe("observeStatistics", () => {
  it("collects statistics of every linear layer's input, without padding", async () => {
    const calibration = await expectObserved(await fusedTiny(), batches);
    expect(calibration.size).toBe(8);
    for (const { tokens } of calibration.values()) expect(tokens).toBe(6 + 2 + 3 + 3);
  });

  it.each([1, 4 * 32 * 32, 20_000])("collects the same in sections of at most %d bytes", async (sectionBytes) => {
    const graph = await fusedTiny();
    expect(await observeStatistics(graph, batches, { sectionBytes })).toEqual(await observeStatistics(graph, batches));
  });

  it("gives layers with the same input the same statistics", async () => {
    const { config, weights } = tinyModernBert();
    const graph = await fusedGraph(config, weights);
    const calibration = await expectObserved(graph, batches);
    const [query, key, value] = linearLayersOf(graph).map(({ weight }) => calibration.get(weight.name));
    expect(query).toBeDefined();
    expect([key, value]).toEqual([query, query]);
  });

  it("adds up the statistics of all layers that share a weight", async () => {
    const graph = drawn((g) => {
      const shared = g.constant("shared", matrix(1));
      return g.op("second", "MatMul", [g.op("between", "Tanh", [g.op("first", "MatMul", ["x", shared])]), shared]);
    });
    const calibration = await expectObserved(graph, [drawnBatch()]);
    expect([...calibration.values()].map(({ tokens }) => tokens)).toEqual([8]);
  });

  it("counts texts if a layer reads one row per text", async () => {
    const graph = drawn((g) => {
      const pooled = g.op("pooled", "Gather", ["x", g.constant("first", tensor("int64", [], BigInt64Array.of(0n)))], {
        axis: int(1),
      });
      return g.op("dense", "MatMul", [pooled, g.constant("weight", matrix(2))]);
    });
    const calibration = await expectObserved(graph, [drawnBatch(), drawnBatch()]);
    expect(calibration.get("weight")?.tokens).toBe(4);
  });

  it("counts all tokens of a graph without a mask", async () => {
    const g = new NamedGraph("ids", [{ name: "input_ids", dtype: "int64", shape: ["batch", "sequence"] }]);
    g.op("embeddings", "Gather", [g.constant("table", matrix(3)), "input_ids"]);
    const graph = g.outputs(g.op("dense", "MatMul", ["embeddings", g.constant("weight", matrix(4))]));
    inferShapes(graph);
    const calibration = await expectObserved(graph, [
      new Map([["input_ids", tensor("int64", [1, 3], BigInt64Array.of(0n, 5n, 0n))]]),
    ]);
    expect(calibration.get("weight")?.tokens).toBe(3);
  });

  it.each([9, 11, 13, 18])("observes graphs of opset %d", async (opset) => {
    const graph = drawn((g) => g.op("dense", "MatMul", ["x", g.constant("weight", matrix(5))]), { opset });
    await expectObserved(graph, [drawnBatch()]);
  });

  it.each([
    [600, 9],
    [600, 18],
    [1600, 18],
  ])("collects the Gram matrix of %d channels, more than a strip or a block, in opset %d", async (width, opset) => {
    const graph = drawn(
      (g) =>
        g.op("down", "MatMul", [
          g.op("between", "Tanh", [g.op("up", "MatMul", ["x", g.constant("wide", matrix(9, WIDTH, width))])]),
          g.constant("tall", matrix(10, width, WIDTH)),
        ]),
      { opset },
    );
    const calibration = await expectObserved(graph, [drawnBatch()]);
    expect(calibration.get("tall")?.width).toBe(width);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e30])("names the node that reads %d", async (bad) => {
    const graph = drawn((g) => {
      const [first, second] = [g.constant("first", matrix(6)), g.constant("second", matrix(7))];
      const sum = g.op("spoilt", "Add", [
        g.op("sound", "MatMul", ["x", first]),
        g.constant("bad", tensor("float32", [1], Float32Array.of(bad))),
      ]);
      return g.op("reader", "MatMul", [sum, second]);
    });
    await expect(observeStatistics(graph, [drawnBatch()])).rejects.toMatchObject({
      code: "calibration_invalid",
      message: expect.stringContaining("reader"),
    });
  });

  it("counts the rows of a reshaped input as tokens", async () => {
    const graph = drawn(
      (g) =>
        g.op("dense", "MatMul", [
          g.op("flat", "Reshape", ["x", g.constant("sizes", int64s(-1, WIDTH))]),
          g.constant("weight", matrix(8)),
        ]),
      { masked: false },
    );
    const calibration = await expectObserved(graph, [drawnBatch()]);
    expect(calibration.get("weight")?.tokens).toBe(6);
  });
});
