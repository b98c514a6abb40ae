import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { expect, it } from "vitest";
import { checkpointOfExport, type ExportedConfig } from "#test/fixtures/checkpoint-of-export.ts";
import { readExportCase, toTensors } from "#test/fixtures/export-case.ts";
import { parsedConfig } from "#test/fixtures/parsed-config.ts";
import { sampled } from "#test/fixtures/sampled.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { originalNomicKeys } from "#test/fixtures/tiny-nomic.ts";
import { ortIntegerMatMul } from "#test/oracles/interpreter/ort-integer-mat-mul.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { originalNomic } from "#test/oracles/original-nomic.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import type { Tensors } from "#test/oracles/run-model.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { countFused } from "../fusions/fused-operators.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { toFp16 } from "../quantize/fp16/to-fp16.ts";
import { precisions } from "../quantize/precisions.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { encoderWeights } from "./encoder-weights.ts";

/**
 * Maximum difference from the framework's outputs. In three layers, the framework computes float32 sums in another
 * order than our graph. A sum has at most 64 terms around 1. Measured: at most 1.9e-6.
 */
const FLOAT32_ROUNDING = 1e-5;
/**
 * Minimum cosines with the float32 hidden states, without padding. int8 and fp16 are compared batch by batch, the edge
 * engine is compared text by text. The models have random weights. Measured: at least 0.999 92 (int8), 0.999 999 6
 * (fp16) and 0.999 85 (edge).
 */
const MIN_INT8_COSINE = 0.9998;
const MIN_FP16_COSINE = 0.999_999;
const MIN_EDGE_COSINE = 0.9996;

/**
 * Minimum change of a hidden state when an attention window is removed or a rotary base changes. Measured: at least
 * 0.2.
 */
const VISIBLE = 0.01;

/** Exports with a position table: all families except ModernBERT and NomicBERT, with all activation formulas. */
const positionTableExports = [
  "t213-bert-eager-l17",
  "t213-bert-gelu_new-eager-l14",
  "t213-bert-gelu_fast-eager-l14",
  "t213-bert-relu-eager-l14",
  "t213-bert-silu-eager-l14",
  "t436-bert-quick_gelu-l12",
  "t213-albert-eager-dyn",
  "t436-albert-l11",
  "t213-distilbert-eager-dyn",
  "t213-roberta-eager-dyn",
  "t213-xlm-roberta-eager-l14",
  "t213-camembert-eager-dyn",
  "t213-electra-eager-dyn",
  "t213-mpnet-eager-l14",
  "t436-mpnet-l13",
];

/**
 * Exports with a rotary embedding. Every ModernBERT here has a layer with an attention window, and an input text
 * that is longer than this window.
 */
const modernBerts = [
  "t213-modernbert-eager-dyn",
  "t213-modernbert-sdpa-l17",
  "t457-modernbert-sdpa-dyn",
  "optonnx-modernbert-base",
];
const nomicBerts = ["t213-nomic-bert-eager-dyn", "t213-nomic-bert-eager-l17", "t213-nomic-bert-sdpa-dyn"];
const exports = [...positionTableExports, ...modernBerts, ...nomicBerts];

describeShared("corpus", "a checkpoint's graph", (corpus) => {
  const loaded = new Map<string, ReturnType<typeof read>>();
  /** Reads an export once for all tests. They do not change its graphs. */
  const load = (name: string) => {
    const known = loaded.get(name) ?? read(name);
    loaded.set(name, known);
    return known;
  };
  const read = async (name: string) => {
    const folder = join(corpus, name);
    const stored = readExportCase(folder) as ReturnType<typeof readExportCase> & {
      family: string;
      config: ExportedConfig;
    };
    const checkpoint = checkpointOfExport(
      fromOnnx(await readOnnx(join(folder, "model.onnx"))),
      stored.family,
      stored.config,
    );
    const decomposed = encoderGraph(checkpoint.config, encoderWeights(checkpoint));
    const fused = copyGraph(decomposed);
    await fuseGraph(fused);
    const feeds = stored.inputs.map(toTensors);
    const expected = stored.outputs.map((tensors, i) => attended(toTensors(tensors), feeds[i] as Tensors));
    return { decomposed, fused, checkpoint, config: checkpoint.config, stored, feeds, expected };
  };
  const states = async (graph: Graph, feeds: readonly Tensors[]) => {
    const names = new Set(graph.inputs.map(({ name }) => name));
    const known = feeds.map((feed) => Object.fromEntries(Object.entries(feed).filter(([name]) => names.has(name))));
    return (await runGraph(graph, known)).map((tensors, i) => attended(tensors, feeds[i] as Tensors));
  };
  /** Returns the hidden states of tokens. Hidden states of padding have no meaning and differ between exports. */
  const attended = (tensors: Tensors, feed: Tensors) => {
    const all = tensors["last_hidden_state"]?.data as Float32Array;
    const mask = feed["attention_mask"]?.data as BigInt64Array;
    const width = all.length / mask.length;
    return all.filter((_, i) => mask[Math.floor(i / width)] === 1n);
  };
  /** Splits a batch into single texts without padding. */
  const unpadded = (feed: Tensors) => {
    const [rows = 0, width = 0] = feed["input_ids"]?.dims ?? [];
    return Array.from({ length: rows }, (_, row) => {
      const own = (name: string) => feed[name]?.data.slice(row * width, (row + 1) * width) as BigInt64Array;
      const mask = own("attention_mask");
      const ids = own("input_ids").filter((_, i) => mask[i] === 1n);
      const input = (values: BigInt64Array) => new ort.Tensor("int64", values, [1, values.length]);
      const all = {
        input_ids: input(ids),
        attention_mask: input(ids.map(() => 1n)),
        token_type_ids: input(ids.map(() => 0n)),
      };
      return { ids: Int32Array.from(ids, Number), feed: all };
    });
  };
  const worst = (a: Float32Array, b: Float32Array) =>
    a.length === b.length
      ? a.reduce((max, value, i) => Math.max(max, Math.abs(value - (b[i] as number))), 0)
      : Number.NaN;

  const some = sampled(exports, 6);

  it.each(exports)("computes the framework's outputs, decomposed and fused: %s", async (name) => {
    const { decomposed, fused, config, feeds, expected } = await load(name);
    for (const graph of [decomposed, fused]) {
      const found = await states(graph, feeds);
      expected.forEach((wanted, i) => {
        expect(worst(found[i] as Float32Array, wanted)).toBeLessThan(FLOAT32_ROUNDING);
      });
    }
    const layers = config.layers;
    expect(countFused(fused)).toMatchObject(
      config.rotaryTheta
        ? { MultiHeadAttention: layers, RotaryEmbedding: 2 * layers }
        : { EmbedLayerNormalization: 1, Attention: layers, SkipLayerNormalization: 2 * layers },
    );
  });

  it.each([...modernBerts, ...nomicBerts])("has the fused operators expected for the export: %s", async (name) => {
    const { fused, stored } = await load(name);
    const claims = [stored.expected_fused, ...(stored.expected_alt ?? [])];
    const without = claims.map((claim) => Object.fromEntries(Object.entries(claim ?? {}).filter(([, count]) => count)));
    expect(without).toContainEqual(countFused(fused));
  });

  it.each(modernBerts)("needs the attention window and both bases of the rotary embedding: %s", async (name) => {
    const { checkpoint, config, feeds, expected } = await load(name);
    const others: EncoderConfig[] = [
      { ...config, windowRadius: undefined },
      { ...config, windowRadius: config.windowRadius?.map((radius) => radius && radius - 1) },
      { ...config, rotaryTheta: config.rotaryTheta?.toReversed() },
    ];
    for (const other of others) {
      const found = await states(encoderGraph(other, encoderWeights(checkpoint)), feeds);
      expect(Math.max(...expected.map((wanted, i) => worst(found[i] as Float32Array, wanted)))).toBeGreaterThan(
        VISIBLE,
      );
    }
  });

  it.each(nomicBerts)("reads nomic-ai's own tensor names and config keys: %s", async (name) => {
    const { checkpoint, config, feeds, expected } = await load(name);
    const keys = originalNomicKeys({
      vocab_size: config.vocabularySize,
      hidden_size: config.hiddenSize,
      num_hidden_layers: config.layers,
      num_attention_heads: config.heads,
      intermediate_size: config.intermediateSize,
      max_position_embeddings: config.maxPositions,
    });
    const original = { folder: name, config: parsedConfig(keys), weights: originalNomic(checkpoint.weights) };
    const found = await states(encoderGraph(original.config, encoderWeights(original)), feeds);
    expected.forEach((wanted, i) => {
      expect(worst(found[i] as Float32Array, wanted)).toBeLessThan(FLOAT32_ROUNDING);
    });
  });

  it.each(some)("stays close to the framework's output in int8 and fp16: %s", async (name) => {
    const { fused, feeds, expected } = await load(name);
    const reduced: [Graph, number][] = [
      [await precisions.int8(fused)(), MIN_INT8_COSINE],
      [toFp16(fused), MIN_FP16_COSINE],
    ];
    for (const [graph, minimum] of reduced) {
      const found = await states(graph, feeds);
      expected.forEach((wanted, i) => {
        expect(cosine(found[i] as Float32Array, wanted)).toBeGreaterThan(minimum);
      });
    }
  });

  it.each(some)("stays close to the fused graph in the edge engine's arithmetic, text by text: %s", async (name) => {
    const { fused, feeds } = await load(name);
    const graph = await precisions["int8-edge"](fused)();
    expect(countOperators(graph)).not.toHaveProperty("MatMul");
    const texts = feeds.flatMap(unpadded);
    expect(texts.length).toBeGreaterThan(0);
    const found = await referenceSession(graph, await ortIntegerMatMul()).run(texts.map(({ ids }) => ids));
    for (const [i, { feed }] of texts.entries()) {
      const [wanted] = await states(fused, [feed]);
      expect(cosine(found[i] as Float32Array, wanted as Float32Array)).toBeGreaterThan(MIN_EDGE_COSINE);
    }
  });

  it("stores ALBERT's shared layer weights only once", async () => {
    const { fused, config } = await load("t213-albert-eager-dyn");
    const attentions = [...fused.nodes].filter(({ opType }) => opType === "Attention");
    expect(attentions).toHaveLength(config.layers);
    expect(new Set(attentions.map(({ inputs }) => inputs[1]?.constant)).size).toBe(1);
  });
});
