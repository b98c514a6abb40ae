import { describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { attendedStates, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { identity, quantizedLayer, randomMatrix, resultOf, rowsOf } from "#test/fixtures/quantized-layer.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type TinyOptions, tinyBert } from "#test/fixtures/tiny-bert.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { runWeb } from "#test/oracles/run-web.ts";
import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import { toOrt } from "../../evaluate/ort-session.ts";
import type { Graph } from "../../graph/graph.ts";
import { tensor } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import { quantizeGraph } from "../quantize-graph.ts";
import { quantizeWeight } from "../weights/quantize-weight.ts";
import { weightQuantizer } from "../weights/weight-quantizer.ts";
import { int8Dynamic } from "./int8-dynamic.ts";

/** Minimum cosine between quantized and float32 hidden states. Measured: 0.9993 at worst over six seeds. */
const MIN_COSINE = 0.999;
/** Relative error of a scaled integer sum: float32 rounds both scales, their product and the result. */
const FLOAT32_ROUNDING = 2 ** -21;

const toNearest = { clipping: false, gptq: false, biasCorrection: false };
const quantizeWeights = weightQuantizer(toNearest);
const int8 = (graph: Graph) => quantizeGraph(graph, int8Dynamic(), quantizeWeights);
const [INPUTS, OUTPUTS] = [40, 18];
const engines = [
  ["native", runOnnx],
  ["WebAssembly", runWeb],
] as const;

describe.each(engines)("a linear layer in int8, %s", (_, run) => {
  const weight = randomMatrix(INPUTS, OUTPUTS, 1);
  const precision = { min: -127, max: 127, symmetric: true };
  const { values: integers, scales } = quantizeWeight(
    tensor("float32", [INPUTS, OUTPUTS], weight),
    precision,
    toNearest,
    undefined,
  );
  const restored = Array.from(integers, (integer, at) => integer * (scales[at % OUTPUTS] as number));
  const model = async () => encodeOnnx(await quantizedLayer(int8Dynamic(), quantizeWeights, weight, INPUTS));

  it("computes with each weight as scale · integer", async () => {
    const found = resultOf(await run(await model(), rowsOf(identity(INPUTS), INPUTS)), INPUTS * OUTPUTS);
    found.forEach((value, at) => {
      const wanted = restored[at] as number;
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(FLOAT32_ROUNDING * Math.abs(wanted));
    });
  });

  it("multiplies the quantized operands", async () => {
    const random = randomNumbers(3);
    // Some CPUs add two neighbouring products in 16 bits. Their sum can overflow. To avoid this, every second number
    // here is the minimum. The minimum is quantized to 0, so that one of the two products is always 0.
    const x = Float32Array.from({ length: 3 * INPUTS }, (_, i) => (i % 2 ? -1 : 2 * random() - 1));
    const high = Math.max(...x, 0);
    const scale = Math.fround((high + 1) / 255);
    const zero = Math.round(1 / scale);
    const found = resultOf(await run(await model(), rowsOf(x, INPUTS)), 3 * OUTPUTS);
    found.forEach((value, at) => {
      const [row, output] = [Math.floor(at / OUTPUTS), at % OUTPUTS];
      let [wanted, size] = [0, 0];
      for (let i = 0; i < INPUTS; i++) {
        const a = Math.round((x[row * INPUTS + i] as number) / scale) * scale;
        expect(a / scale + zero).toBeGreaterThan(-0.01);
        wanted += a * (restored[i * OUTPUTS + output] as number);
        size += Math.abs(a * (restored[i * OUTPUTS + output] as number));
      }
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(FLOAT32_ROUNDING * size);
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
    ["table blocks of 32", {}],
    ["table blocks of 16", { config: { hidden_size: 48 } }],
    ["a width that no block divides", { config: { hidden_size: 24 } }],
    ["other weights", { seed: 2 }],
  ])("stays close to the float32 model under every padding, with %s", async (_, options) => {
    const { config, weights: values } = tinyBert(options);
    const expected = await attendedStates(encoderGraph(config, values), batch);
    const hiddenStates = await attendedStates(await int8(await fusedGraph(config, values)), batch);
    expect(hiddenStates).toHaveLength(expected.length);
    hiddenStates.forEach((state, i) => {
      expect(cosine(state, expected[i] as Float32Array)).toBeGreaterThan(MIN_COSINE);
    });
  });

  it("computes the same in WebAssembly and natively", async () => {
    const { config, weights: values } = tinyBert();
    const model = encodeOnnx(await int8(await fusedGraph(config, values)));
    const feeds = Object.fromEntries([...calibrationBatch(batch)].map(([name, value]) => [name, toOrt(value)]));
    const [native, web] = await Promise.all(
      engines.map(async ([, run]) => (await run(model, feeds))["last_hidden_state"]?.data as Float32Array),
    );
    expect(native).toHaveLength(web?.length ?? -1);
    expect(cosine(native as Float32Array, web as Float32Array)).toBeGreaterThan(MIN_COSINE);
  });

  it("leaves no linear layer in float32", async () => {
    const { config, weights: values } = tinyBert();
    const counts = countOperators(await int8(await fusedGraph(config, values)));
    expect(counts).toMatchObject({ DynamicQuantizeMatMul: 6, QAttention: 2, GatherBlockQuantized: 1 });
    for (const float of ["MatMul", "Attention", "EmbedLayerNormalization"]) expect(counts).not.toHaveProperty(float);
  });

  it("makes the file four times smaller if most of it is weights", async () => {
    const { config, weights: values } = tinyBert({
      config: { vocab_size: 2000, hidden_size: 128, intermediate_size: 512 },
    });
    const graph = await fusedGraph(config, values);
    const ratio = encodeOnnx(await int8(graph)).length / encodeOnnx(graph).length;
    expect(ratio).toBeGreaterThan(1 / 4);
    // The scales, the biases, and the position and type tables stay in float32.
    expect(ratio).toBeLessThan(1 / 4 + 0.03);
  });
});
