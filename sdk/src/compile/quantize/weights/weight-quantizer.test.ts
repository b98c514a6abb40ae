import { describe, expect, it } from "vitest";
import { correlatedTokens, statisticsOf, withoutFactors } from "#test/fixtures/activation-statistics.ts";
import { randomMatrix } from "#test/fixtures/quantized-layer.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { Graph } from "../../graph/graph.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { ScaledStatistics } from "../calibration/activation-statistics.ts";
import { type LinearLayer, linearLayersOf } from "../linear-layers.ts";
import { INT8_SYMMETRIC } from "./quantization-parameters.ts";
import { quantizeWeight, ROUND_TO_NEAREST } from "./quantize-weight.ts";
import { correctedBias, quantizeWeights, type WeightTask, weightQuantizer } from "./weight-quantizer.ts";

describe("weightQuantizer", () => {
  it("reads the statistics of a weight once, even if it is quantized twice", async () => {
    const s = new Sketch();
    s.output(s.op("MatMul", [s.input("x", ["n", 8]), s.random([8, 16])]));
    const [layer] = linearLayersOf(s.graph);
    if (!layer) throw new Error("no linear layer");
    const read: string[] = [];
    const statistics = statisticsOf(correlatedTokens(8, 20, 1));
    const byWeight = {
      get(name: string) {
        read.push(name);
        return statistics;
      },
    };
    const quantizeWeights = weightQuantizer({ ...ROUND_TO_NEAREST, gptq: true }, byWeight);
    const first = (await quantizeWeights([layer, layer], INT8_SYMMETRIC)).get(layer.weight.name);
    expect(first?.values).toHaveLength(8 * 16);
    expect((await quantizeWeights([layer], INT8_SYMMETRIC)).get(layer.weight.name)).toBe(first);
    expect(read).toEqual([layer.weight.name]);
  });
});

const numbers = (...values: number[]): Tensor => tensor("float32", [values.length], Float32Array.from(values));

describe("correctedBias", () => {
  const graph = new Graph("bias");
  const constant = graph.constant("bias", numbers(1, 2));
  const computed = graph.input("computed");
  const layerWith = (bias: LinearLayer["bias"]): LinearLayer => ({
    name: "dense",
    x: graph.input("x"),
    weight: graph.constant("weight", numbers(1, 2)) as LinearLayer["weight"],
    bias,
  });
  const correction = Float32Array.of(0.5, -0.25);

  it("returns the layer's bias unchanged if there is no correction, or if the bias is not constant", () => {
    for (const bias of [undefined, constant, computed]) {
      expect(correctedBias(graph, layerWith(bias), undefined)).toBe(bias);
    }
    expect(correctedBias(graph, layerWith(computed), correction)).toBe(computed);
  });

  it("adds the correction to the layer's bias", () => {
    const found = (bias: LinearLayer["bias"]) => correctedBias(graph, layerWith(bias), correction)?.constant;
    expect([...toFloat32(found(undefined) as Tensor)]).toEqual([0.5, -0.25]);
    expect([...toFloat32(found(constant) as Tensor)]).toEqual([1.5, 1.75]);
    expect([...toFloat32(constant.constant as Tensor)]).toEqual([1, 2]);
  });
});

const rounding = { clipping: true, gptq: true, biasCorrection: true };

/** Tasks of different sizes. With 600 outputs they are large enough for threads. */
const tasksWith = (outputs: number): WeightTask[] =>
  [96, 40, 200, 64].map((inputs, i) => {
    const weight = tensor("float32", [inputs, outputs], randomMatrix(inputs, outputs, i));
    const statistics = statisticsOf(correlatedTokens(inputs, 50, i));
    const factors = Float32Array.from({ length: inputs }, (_, channel) => 2 ** (channel % 3));
    return { weight, precision: INT8_SYMMETRIC, rounding, statistics: () => ({ ...statistics, factors }) };
  });

describe("quantizeWeights", () => {
  it.each([
    ["on this thread", 8],
    ["on threads", 800],
  ])("returns the results of quantizeWeight in the order of the tasks, %s", async (_, outputs) => {
    const tasks = tasksWith(outputs);
    const fractions: number[] = [];
    const found = await quantizeWeights(tasks, { progress: (fraction) => fractions.push(fraction) });
    expect(found).toEqual(
      tasks.map(({ weight, precision, statistics }) => quantizeWeight(weight, precision, rounding, statistics())),
    );
    expect(fractions).toEqual([0.25, 0.5, 0.75, 1]);
  });

  it("uses the statistics of the scaled input", async () => {
    const [task] = tasksWith(8) as [WeightTask];
    const statistics = task.statistics() as ScaledStatistics;
    const [scaled, unscaled] = [withoutFactors(statistics), { ...statistics, factors: undefined }];
    expect(await quantizeWeights([task])).toEqual(await quantizeWeights([{ ...task, statistics: () => scaled }]));
    expect(await quantizeWeights([task])).not.toEqual(await quantizeWeights([{ ...task, statistics: () => unscaled }]));
  });

  it("stops its threads when the signal aborts", async () => {
    const stop = new AbortController();
    const work = quantizeWeights(tasksWith(800), { signal: stop.signal, progress: () => stop.abort() });
    await expect(work).rejects.toMatchObject({ code: "aborted" });
  });

  it("passes on the error of a thread", async () => {
    const tasks = tasksWith(800).map((task) => ({ ...task, precision: undefined as never }));
    await expect(quantizeWeights(tasks)).rejects.toThrow(TypeError);
  });
});
