import { describe, expect, it } from "vitest";
import { attendedStates, largestDifference, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { parsedConfig } from "#test/fixtures/parsed-config.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { countFused } from "../../fusions/fused-operators.ts";
import { toFp16 } from "../../quantize/fp16/to-fp16.ts";
import { encoderGraph } from "../encoder-graph.ts";

/**
 * Maximum difference between the outputs of two graphs. In three layers, the graphs compute float32 sums in different
 * orders. A sum has at most 32 terms around 1. Measured: 2.5e-6.
 */
const FLOAT32_ROUNDING = 1e-5;
/**
 * Maximum difference between float32 and half precision, which keeps 11 bits of a number. Measured: 0.010 for hidden
 * states of up to 3.2.
 */
const FLOAT16_ROUNDING = 0.05;

const keys = {
  model_type: "modernbert",
  vocab_size: 50_368,
  hidden_size: 768,
  num_hidden_layers: 4,
  num_attention_heads: 12,
  intermediate_size: 1152,
  max_position_embeddings: 8192,
};
const parsed = (change: object) => parsedConfig({ ...keys, ...change });

describe("a ModernBERT's configuration", () => {
  it("uses transformers' defaults for missing keys", () => {
    expect(parsed({})).toMatchObject({
      rotaryTheta: [160_000, 10_000, 10_000, 160_000],
      windowRadius: [undefined, 64, 64, undefined],
      layerNormEpsilon: 1e-5,
      activation: "gelu",
      hasNormBias: false,
      hasAttentionBias: false,
      hasIntermediateBias: false,
      hasOutputBias: false,
      tokenTypes: 0,
    });
  });

  it.each<[string, object, (number | undefined)[], number[]]>([
    [
      "every second layer global, other thetas",
      { global_attn_every_n_layers: 2, local_attention: 9, global_rope_theta: 80, local_rope_theta: 20 },
      [undefined, 4, undefined, 4],
      [80, 20, 80, 20],
    ],
    [
      "one theta for all",
      { local_rope_theta: null },
      [undefined, 64, 64, undefined],
      [160_000, 160_000, 160_000, 160_000],
    ],
    [
      "layer by layer, in the keys of transformers 5",
      {
        layer_types: ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"],
        rope_parameters: {
          full_attention: { rope_type: "default", rope_theta: 300 },
          sliding_attention: { rope_type: "default", rope_theta: 30 },
        },
      },
      [64, undefined, 64, 64],
      [30, 300, 30, 30],
    ],
  ])("gives each layer its attention window and theta: %s", (_, change, windowRadius, rotaryTheta) => {
    expect(parsed(change)).toMatchObject({ windowRadius, rotaryTheta });
  });

  it.each<[string, object, string]>([
    [
      "layers that are not counted",
      { layer_types: ["full_attention"] },
      "layer_types must have num_hidden_layers entries",
    ],
    ["layers of another type", { layer_types: Array(4).fill("linear_attention") }, "linear_attention"],
    ["scaled positions", { rope_parameters: { full_attention: { rope_type: "yarn" } } }, "scaled rotary embeddings"],
    ["scaled positions, as they were said", { rope_scaling: { type: "linear" } }, "scaled rotary embeddings"],
    ["heads of an odd size", { hidden_size: 36, num_attention_heads: 12 }, "heads of an even size"],
    ["more layers than a list can have", { num_hidden_layers: 2 ** 31 - 1 }, "10000"],
  ])("refuses %s", (_, change, message) => {
    expect(() => parsed(change)).toThrow(message);
  });
});

const batch = randomBatch(
  [
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
    [0, 1, 1, 0, 0, 0, 0, 0, 1, 0],
  ],
  50,
);

describe("a ModernBERT's graph", () => {
  it.each<[string, Record<string, unknown>]>([
    ["no biases", {}],
    ["all biases", { norm_bias: true, attention_bias: true, mlp_bias: true }],
    ["another activation", { hidden_activation: "silu" }],
  ])("computes the same when it is fused, with %s", async (_, change) => {
    const { config, weights } = tinyModernBert(change);
    const fused = await fusedGraph(config, weights);
    expect(countFused(fused)).toMatchObject({ MultiHeadAttention: 3, RotaryEmbedding: 6, SkipLayerNormalization: 6 });
    const [before, after] = [
      await attendedStates(encoderGraph(config, weights), batch),
      await attendedStates(fused, batch),
    ];
    expect(largestDifference(before, after)).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("reads the encoder of a masked language model's checkpoint", () => {
    expect(tinyModernBert({}, "model.").weights).toEqual(tinyModernBert().weights);
  });

  it("has a bias for every linear layer and normalization that config.json gives one", async () => {
    const plain = tinyModernBert();
    const states = await attendedStates(encoderGraph(plain.config, plain.weights), batch);
    for (const key of ["norm_bias", "attention_bias", "mlp_bias"]) {
      const { config, weights } = tinyModernBert({ [key]: true });
      expect(
        largestDifference(states, await attendedStates(encoderGraph(config, weights), batch)),
        key,
      ).toBeGreaterThan(0.1);
    }
  });

  it("attends to the whole window and nothing beyond it in local layers", async () => {
    // Two local layers with a window of two tokens on either side: a change of token 0 reaches token 4 at most.
    const local = { num_hidden_layers: 2, layer_types: ["sliding_attention", "sliding_attention"] };
    const { config, weights } = tinyModernBert(local);
    const row = randomBatch([Array(12).fill(1)], 50);
    const changed = { ...row, ids: row.ids.map((ids) => [(ids[0] as number) ^ 1, ...ids.slice(1)]) };
    for (const graph of [encoderGraph(config, weights), await fusedGraph(config, weights)]) {
      const [before, after] = [await attendedStates(graph, row), await attendedStates(graph, changed)];
      const differs = before.map((state, i) => largestDifference([state], [after[i] as Float32Array]) > 0);
      expect(differs).toEqual(Array.from({ length: 12 }, (_, at) => at <= 4));
    }
  });

  it("uses only relative positions: padding on the left changes nothing", async () => {
    const { config, weights } = tinyModernBert();
    const text = randomBatch([Array(9).fill(1)], 50);
    const moved = {
      ids: text.ids.map((ids) => [...Array(20).fill(0), ...ids]),
      mask: [[...Array(20).fill(0), ...Array(9).fill(1)]],
      types: [],
    };
    const graph = await fusedGraph(config, weights);
    const types = [Array(29).fill(0)];
    const [here, there] = [await attendedStates(graph, text), await attendedStates(graph, { ...moved, types })];
    expect(largestDifference(here, there)).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("gives no NaN for padding outside every window, in float32 and half precision", async () => {
    const { config, weights } = tinyModernBert();
    const fused = await fusedGraph(config, weights);
    const short = randomBatch([Array(5).fill(1)], 50);
    const padded = {
      ids: short.ids.map((ids) => [...ids, ...Array(59).fill(0)]),
      mask: [[...Array(5).fill(1), ...Array(59).fill(0)]],
      types: [Array(64).fill(0)],
    };
    const expected = await attendedStates(fused, short);
    expect(largestDifference(expected, await attendedStates(fused, padded))).toBeLessThan(FLOAT32_ROUNDING);
    const half = largestDifference(expected, await attendedStates(toFp16(fused), padded));
    expect(half).toBeLessThan(FLOAT16_ROUNDING);
  });
});
