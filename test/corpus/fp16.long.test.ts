import { join } from "node:path";
import fc from "fast-check";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import type { ModelProto } from "#sdk/compile/proto/onnx-messages.ts";
import { readExportCase, toTensors } from "../fixtures/export-case.ts";
import { drawEncoder } from "../fixtures/random-encoder/draw.ts";
import { addNoise, noise } from "../fixtures/random-encoder/noise.ts";
import { encoderPlan } from "../fixtures/random-encoder/plan.ts";
import { encoderBatches } from "../fixtures/random-encoder/run.ts";
import { sampled } from "../fixtures/sampled.ts";
import { seeded } from "../fixtures/seeded.ts";
import { describeShared } from "../fixtures/shared.ts";
import { type Counts, floatCasts, halved } from "../oracles/halved.ts";
import { fusedCounts, type Tensors } from "../oracles/run-model.ts";
import { casesIn, EXPORTS } from "./exported-model.ts";

interface Limits {
  readonly cosine: number;
  readonly difference: number;
}

/**
 * Limits for float32 models of two layers that are converted to float16 (10-bit mantissa). The worst cases are
 * t213-electra-seq-cls-eager-l17 (cosine 0.999 997; it has only two logits) and t213-bert-l12-sdpa-dyn (difference
 * 0.0028). A wrong mask, or a wrong mean or variance in a layer normalization, causes a difference of 0.1.
 */
const HALF: Limits = { cosine: 0.999_99, difference: 0.005 };

/**
 * Limits for the repository's exports, whose hidden states have only 16 or 32 channels. The worst case is
 * bert-classifier-tf2onnx13 (difference 0.0091).
 */
const NARROW: Limits = { ...HALF, difference: 0.012 };

/**
 * Limits for int8 models. A small rounding difference can make a quantization round to another integer. The difference
 * is then 1/255 of the quantized range. The worst cases are q-bert-qdq-matmul-pc-l17 (cosine 0.999 65) and
 * q-bert-qdq-matmul-l17 (difference 0.042). In both cases the graph is unfused, and its embeddings cause the
 * difference.
 */
const QUANTIZED: Limits = { cosine: 0.9995, difference: 0.06 };

/**
 * Limits for random encoders, whose hidden states have only a few channels. The worst results of 1500 encoders are
 * 0.999 994 and 0.0103.
 */
const RANDOM: Limits = { cosine: 0.999_98, difference: 0.02 };
const RUNS = 40;
const TIMEOUT_MS = 120_000;

const expectWithin = ({ cosine, difference }: Limits, limits: Limits) => {
  expect(cosine).toBeGreaterThan(limits.cosine);
  expect(difference).toBeLessThan(limits.difference);
};

async function fused(model: ModelProto): Promise<Graph> {
  const graph = fromOnnx(model);
  await fuseGraph(graph);
  return graph;
}

const maskOf = (feeds: Tensors): [string, ort.Tensor] | undefined =>
  Object.entries(feeds).find(([name]) => name.includes("mask"));

/**
 * Returns the same texts three times, with different masks. Each row has right padding in one of the masks, left
 * padding in another, and nothing but padding in the third.
 */
function padded(feeds: Tensors): Tensors[] {
  const [name, mask] = maskOf(feeds) ?? [];
  if (!name || !mask) return [];
  const [, length = 1] = mask.dims;
  return [0, 1, 2].map((turn) => {
    const values = Array.from({ length: mask.size }, (_, i) => {
      const [row, at] = [Math.floor(i / length), i % length];
      return [0, at < length / 2 ? 1 : 0, at >= length / 2 ? 1 : 0][(row + turn) % 3] as number;
    });
    const data = mask.type === "int64" ? BigInt64Array.from(values, BigInt) : Int32Array.from(values);
    return { ...feeds, [name]: new ort.Tensor(mask.type as "int32", data as Int32Array, mask.dims) };
  });
}

/** Returns true if a fused attention adds computed masks to its scores. */
const addsMask = (graph: Graph): boolean =>
  [...graph.nodes].some(
    ({ opType, inputs }) => /^(MultiHead)?Attention$/.test(opType) && inputs[5] && !inputs[5].isConstant,
  );

/**
 * Selects the attended tokens for the comparison. A row with nothing but padding has other results in float16: the mask
 * value of float32 is so large that all scores become equal, but the mask value of float16 is smaller. Nobody uses the
 * results of such a row.
 */
const attended =
  (feeds: readonly Tensors[]): Counts =>
  (run, row, token) => {
    const mask = maskOf(feeds[run] ?? {})?.[1];
    return !mask || Number(mask.data[row * (mask.dims[1] ?? 0) + token]) === 1;
  };

function computeTheSame(folder: string, cases: readonly string[], limits: Limits): void {
  it.each(cases)("computes the same, fused and unfused: %s", async (name) => {
    const model = await readOnnx(join(folder, name, "model.onnx"));
    const inputs = readExportCase(join(folder, name)).inputs.map(toTensors);
    const feeds = [...inputs, ...padded(inputs[0] as Tensors)];
    const isQuantized = /^q|-(qdq|qat|dynamic)-/.test(name);
    const graph = await fused(model);
    const whole = await halved(graph, feeds, addsMask(graph) ? attended(feeds) : undefined);
    for (const each of [whole, await halved(fromOnnx(model), feeds)])
      expectWithin(each, isQuantized ? QUANTIZED : limits);
    if (isQuantized) return;
    // Every fused operator computes in float16, without casts in between.
    const inHalf = [...whole.graph.nodes].filter(({ output }) => output.dtype === "float16");
    expect(fusedCounts(inHalf)).toEqual(fusedCounts(graph.nodes));
    const matrices = [...whole.graph.constants()].filter(
      ({ shape = [] }) => shape.filter((size) => size !== 1).length > 1,
    );
    expect(matrices.filter(({ dtype }) => dtype === "float32")).toEqual([]);
    const others = [...whole.graph.nodes].filter((node) => node.output.dtype === "float32" && !node.is("Cast"));
    if (others.length === 0) expect(floatCasts(whole.graph).length).toBeLessThanOrEqual(graph.outputs.length);
  });
}

describe("an exported model in half precision", () => computeTheSame(EXPORTS, casesIn(EXPORTS), NARROW));

describeShared("corpus", "an export of the large corpus in half precision", (folder) => {
  const cases = casesIn(folder);

  it("is one of 150 cases", () => expect(cases).toHaveLength(150));

  computeTheSame(folder, sampled(cases, 6), HALF);
});

describe("an encoder in half precision, with each sub-layer in a random form,", () => {
  it("computes the same, fused and unfused", { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(encoderPlan, noise, async (plan, all) => {
        const draw = () => {
          const sketch = drawEncoder(plan);
          addNoise(sketch, all);
          return sketch.graph;
        };
        const feeds = encoderBatches(draw(), 1);
        expectWithin(await halved(draw(), feeds), RANDOM);
        const graph = draw();
        await fuseGraph(graph);
        expectWithin(await halved(graph, feeds), RANDOM);
      }),
      seeded(RUNS),
    );
  });
});
