import { describe, expect, it } from "vitest";
import { correlatedTokens, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { Graph } from "../../graph/graph.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { type LinearLayer, linearLayersOf } from "../linear-layers.ts";
import { INT8_SYMMETRIC } from "./quantization-parameters.ts";
import { ROUND_TO_NEAREST } from "./quantize-weight.ts";
import { correctedBias, weightQuantizer } from "./weight-quantizer.ts";

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
