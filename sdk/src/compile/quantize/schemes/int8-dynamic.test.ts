import { describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { attendedStates, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { identity, oneProduct, randomMatrix, resultOf, rowsOf } from "#test/fixtures/one-product.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type TinyOptions, tinyBert } from "#test/fixtures/tiny-bert.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { runWeb } from "#test/oracles/run-web.ts";
import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import { tensor } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import { quantizeGraph } from "../quantize-graph.ts";
import { quantizeWeight } from "../weights/quantize-weight.ts";
import { weightQuantizer } from "../weights/weight-quantizer.ts";
import { int8Dynamic } from "./int8-dynamic.ts";

/** Of a state to that of the float32 model. Two layers of random weights measure 0.9993 at worst over six seeds. */
const LEAST_COSINE = 0.999;
/** A sum of integers, scaled: rounding of the scales, their product and the result. */
const FLOAT32_ROUNDING = 2 ** -21;

const plain = { clipping: false, gptq: false, biasCorrection: false };
const form = () => int8Dynamic(weightQuantizer(plain));
const [INPUTS, OUTPUTS] = [40, 18];
const engines = [
  ["native", runOnnx],
  ["WebAssembly", runWeb],
] as const;

describe.each(engines)("a product in int8, %s", (_, run) => {
  const weight = randomMatrix(INPUTS, OUTPUTS, 1);
  const levels = { min: -127, max: 127, symmetric: true };
  const { values: whole, scales: step } = quantizeWeight(
    tensor("float32", [INPUTS, OUTPUTS], weight),
    levels,
    plain,
    undefined,
  );
  const restored = Array.from(whole, (level, at) => level * (step[at % OUTPUTS] as number));
  const model = encodeOnnx(oneProduct(form(), weight, INPUTS));

  it("gives back each weight, as its level and step have it", async () => {
    const found = resultOf(await run(model, rowsOf(identity(INPUTS), INPUTS)), INPUTS * OUTPUTS);
    found.forEach((value, at) => {
      const wanted = restored[at] as number;
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(FLOAT32_ROUNDING * Math.abs(wanted));
    });
  });

  it("is the product of both operands as they are quantized", async () => {
    const random = randomNumbers(3);
    // Every second number is the min: 0 once quantized, so that no pair saturates 16 bits where a processor adds in these.
    const x = Float32Array.from({ length: 3 * INPUTS }, (_, i) => (i % 2 ? -1 : 2 * random() - 1));
    const high = Math.max(...x, 0);
    const scale = Math.fround((high + 1) / 255);
    const zero = Math.round(1 / scale);
    const found = resultOf(await run(model, rowsOf(x, INPUTS)), 3 * OUTPUTS);
    found.forEach((value, at) => {
      const [row, output] = [Math.floor(at / OUTPUTS), at % OUTPUTS];
      let [product, size] = [0, 0];
      for (let i = 0; i < INPUTS; i++) {
        const a = Math.round((x[row * INPUTS + i] as number) / scale) * scale;
        expect(a / scale + zero).toBeGreaterThan(-0.01);
        product += a * (restored[i * OUTPUTS + output] as number);
        size += Math.abs(a * (restored[i * OUTPUTS + output] as number));
      }
      expect(Math.abs(value - product)).toBeLessThanOrEqual(FLOAT32_ROUNDING * size);
    });
  });
});

const batch = randomBatch(
  [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 1, 1, 0, 1, 0],
  ],
  50,
);

describe("a model in int8", () => {
  it.each<[string, TinyOptions]>([
    ["blocks of 32", {}],
    ["blocks of 16", { config: { hidden_size: 48 } }],
    ["a width that no block divides", { config: { hidden_size: 24 } }],
    ["other weights", { seed: 2 }],
  ])("stays close to the float32 model under every padding, with %s", async (_, options) => {
    const { config, weights: values } = tinyBert(options);
    const expected = await attendedStates(encoderGraph(config, values), batch);
    const states = await attendedStates(quantizeGraph(await fusedGraph(config, values), form()), batch);
    expect(states).toHaveLength(expected.length);
    states.forEach((state, i) => {
      expect(cosine(state, expected[i] as Float32Array)).toBeGreaterThan(LEAST_COSINE);
    });
  });

  it("computes in WebAssembly what it computes natively", async () => {
    const { config, weights: values } = tinyBert();
    const model = encodeOnnx(quantizeGraph(await fusedGraph(config, values), form()));
    const feeds = Object.fromEntries([...calibrationBatch(batch)].map(([name, value]) => [name, toOrt(value)]));
    const [native, web] = await Promise.all(
      engines.map(async ([, run]) => (await run(model, feeds))["last_hidden_state"]?.data as Float32Array),
    );
    expect(native).toHaveLength(web?.length ?? -1);
    expect(cosine(native as Float32Array, web as Float32Array)).toBeGreaterThan(LEAST_COSINE);
  });

  it("leaves no product of weights in float32", async () => {
    const { config, weights: values } = tinyBert();
    const counts = countOperators(quantizeGraph(await fusedGraph(config, values), form()));
    expect(counts).toMatchObject({ DynamicQuantizeMatMul: 6, QAttention: 2, GatherBlockQuantized: 1 });
    for (const float of ["MatMul", "Attention", "EmbedLayerNormalization"]) expect(counts).not.toHaveProperty(float);
  });

  it("makes the file of a model whose bytes are weights a quarter as large", async () => {
    const { config, weights: values } = tinyBert({
      config: { vocab_size: 2000, hidden_size: 128, intermediate_size: 512 },
    });
    const graph = await fusedGraph(config, values);
    const ratio = encodeOnnx(quantizeGraph(graph, form())).length / encodeOnnx(graph).length;
    expect(ratio).toBeGreaterThan(1 / 4);
    // Scales, biases, position and type tables stay in float32.
    expect(ratio).toBeLessThan(1 / 4 + 0.03);
  });
});
