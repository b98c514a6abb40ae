import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { encoderWeights } from "#sdk/compile/checkpoint/encoder-weights.ts";
import { headGraph } from "#sdk/compile/checkpoint/head-graph.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { int, type Node, type Value } from "#sdk/compile/graph/node.ts";
import { float32Scalar, type Tensor, tensor } from "#sdk/compile/graph/tensor.ts";
import { precisions } from "#sdk/compile/quantize/precisions.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { classifierCases, classifierIds, writeClassifier } from "../../fixtures/classifier-case.ts";
import { fusedGraph } from "../../fixtures/fused-graph.ts";
import { readHeadedModel } from "../../fixtures/read-checkpoint.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { tinyBert } from "../../fixtures/tiny-bert.ts";
import { tinyModernBert } from "../../fixtures/tiny-modernbert.ts";
import { tinyNomic } from "../../fixtures/tiny-nomic.ts";
import { countOperators } from "../rewritten.ts";
import { runGraph } from "../run-graph.ts";
import { ortIntegerMatMul } from "./ort-integer-mat-mul.ts";
import { referenceSession } from "./reference-session.ts";

/**
 * Minimum cosine similarity with the float32 hidden states, for random weights. Measured: 0.9993, and 0.9990 for models
 * with gated feed-forward blocks (`MIN_GATED_COSINE`).
 */
const MIN_COSINE = 0.999;
const MIN_GATED_COSINE = 0.998;
/** Minimum cosine similarity with a 4-bit token embedding table. Measured: 0.9976. */
const MIN_FOUR_BIT_COSINE = 0.995;
/** Tolerance for logits, relative to the largest logit. Measured: at most 0.018. */
const LOGIT_TOLERANCE = 0.03;
/** The same for the larger models of families.json, whose logits are sums of more terms. Measured: at most 0.059. */
const LARGER_LOGIT_TOLERANCE = 0.08;
/**
 * Tolerance for hidden states after two layers. The reference GELU replaces Φ by a polynomial, with an error of at most
 * 9 · 10⁻⁵. Measured for the hidden states: 1.3 · 10⁻⁴ for values around 1.
 */
const APPROXIMATION = 2e-4;

/** Token id of padding. Padding is removed from the texts. */
const PADDING = 1;
const sequences = classifierIds.map((ids) => Int32Array.from(ids.filter((id) => id !== PADDING)));
const texts = [...sequences, ...[1, 2, 3].map((length) => (sequences[0] as Int32Array).slice(0, length))];

/** Runs a float32 graph with onnxruntime. Returns the first output for each text. */
async function inFloat32(graph: Graph, given: readonly Int32Array[]): Promise<Float32Array[]> {
  const feeds = given.map((ids) => {
    const input = (value: (id: number) => number) =>
      new ort.Tensor(
        "int64",
        BigInt64Array.from([...ids], (id) => BigInt(value(id))),
        [1, ids.length],
      );
    const all: Record<string, ort.Tensor> = {
      input_ids: input((id) => id),
      attention_mask: input(() => 1),
      token_type_ids: input(() => 0),
    };
    return Object.fromEntries(graph.inputs.map(({ name }) => [name, all[name] as ort.Tensor]));
  });
  const name = graph.outputs[0]?.name as string;
  return (await runGraph(graph, feeds)).map((outputs) => outputs[name]?.data as Float32Array);
}

const edge = (fused: Graph, tableBits: 8 | 4 = 8) => precisions["int8-edge"](fused, { tableBits })();
const fusedTiny = () => {
  const { config, weights } = tinyBert();
  return fusedGraph(config, weights);
};
const ids = [Int32Array.of(2, 7, 30, 41, 3), Int32Array.of(9)];
const nomic = tinyNomic().current;

/** Returns the quantized graph of the tiny model, with one more node at its end. */
async function withLast(opType: string, inputs: readonly (Tensor | undefined)[], attributes = {}): Promise<Graph> {
  const graph = await edge(await fusedTiny());
  const output = graph.outputs[0] as Graph["outputs"][number];
  const constants = inputs.map((value, i) => value && graph.constant(`last.${i}`, value));
  output.value = graph.add(opType, [output.value, ...constants], { name: "last", attributes }).output;
  return graph;
}

const integers = (...values: (number | bigint)[]) =>
  tensor("int64", [values.length], BigInt64Array.from(values, BigInt));

describe.each(classifierCases)("the edge engine's arithmetic on a classifier: $name", (stored) => {
  const load = async () => {
    const folder = join(await temporaryFolder(), "model");
    await writeClassifier(folder, stored);
    return readHeadedModel(folder, "sequence-classification");
  };

  it("approximates the encoder's hidden states, with the same bits when onnxruntime runs the integer MatMul", async () => {
    const classifier = await load();
    const fused = await fusedGraph(classifier.config, encoderWeights(classifier));
    const wanted = await inFloat32(fused, texts);
    const graph = await edge(fused);
    expect(countOperators(graph)["DynamicQuantizeAttention"]).toBe(classifier.config.layers);
    const found = await referenceSession(graph).run(texts);
    found.forEach((states, i) => {
      expect(states).toHaveLength(wanted[i]?.length ?? -1);
      expect(cosine(states, wanted[i] as Float32Array)).toBeGreaterThan(MIN_COSINE);
    });
    expect(await referenceSession(graph, await ortIntegerMatMul()).run(texts)).toEqual(found);
  });

  it("approximates the logits", async () => {
    const classifier = await load();
    const fused = headGraph(classifier);
    await fuseGraph(fused);
    const graph = await edge(fused);
    const wanted = await inFloat32(fused, texts);
    const largest = Math.max(...wanted.flatMap((logits) => [...logits].map(Math.abs)));
    const tolerance = classifier.config.hiddenSize > 8 ? LARGER_LOGIT_TOLERANCE : LOGIT_TOLERANCE;
    (await referenceSession(graph).run(texts)).forEach((logits, i) => {
      expect(logits).toHaveLength(classifier.labels.length);
      logits.forEach((logit, label) => {
        expect(Math.abs(logit - (wanted[i]?.[label] as number))).toBeLessThan(tolerance * largest);
      });
    });
  });
});

describe("referenceSession", () => {
  it("computes the same as onnxruntime for a float32 graph", async () => {
    const graph = await fusedTiny();
    const wanted = await inFloat32(graph, ids);
    (await referenceSession(graph).run(ids)).forEach((states, i) => {
      expect(states).toHaveLength(wanted[i]?.length ?? -1);
      states.forEach((state, at) => {
        expect(Math.abs(state - (wanted[i]?.[at] as number))).toBeLessThan(APPROXIMATION);
      });
    });
  });

  it.each([
    ["an attention window, rotary embedding and GeGLU", tinyModernBert],
    ["rotary embedding and SwiGLU", () => ({ config: nomic.config, weights: encoderWeights(nomic) })],
  ])("approximates %s", async (_, draw) => {
    const { config, weights } = draw();
    const fused = await fusedGraph(config, weights);
    const graph = await edge(fused);
    const layers = config.layers;
    expect(countOperators(graph)).toMatchObject({
      DynamicQuantizeMatMul: 7 * layers,
      DynamicQuantizeAttention: layers,
      RotaryEmbedding: 2 * layers,
    });
    const long = Int32Array.from({ length: 17 }, (_, i) => (7 * i) % 50);
    const wanted = await inFloat32(fused, [...ids, long]);
    (await referenceSession(graph, await ortIntegerMatMul()).run([...ids, long])).forEach((states, i) => {
      expect(states).toHaveLength(wanted[i]?.length ?? -1);
      expect(cosine(states, wanted[i] as Float32Array)).toBeGreaterThan(MIN_GATED_COSINE);
    });
  });

  it("reads 4-bit tables", async () => {
    const graph = await fusedTiny();
    const wanted = await inFloat32(graph, ids);
    const [eight, four] = [await edge(graph), await edge(graph, 4)];
    const lookups = ["GatherBlockQuantized", "LookupLevels"];
    const lookupOf = ({ nodes }: Graph) => [...nodes].find(({ opType }) => lookups.includes(opType))?.opType;
    expect([eight, four].map(lookupOf)).toEqual(lookups);
    for (const [graph, least] of [
      [eight, MIN_COSINE],
      [four, MIN_FOUR_BIT_COSINE],
    ] as const) {
      (await referenceSession(graph).run(ids)).forEach((states, i) => {
        expect(cosine(states, wanted[i] as Float32Array)).toBeGreaterThan(least);
      });
    }
  });

  it("runs each text alone, and accepts an empty list of texts", async () => {
    const session = referenceSession(await edge(await fusedTiny()));
    const [first, second] = await session.run(ids);
    expect(await session.run(ids.toReversed())).toEqual([second, first]);
    expect(await session.run([])).toEqual([]);
  });

  it.each<[string, readonly (Tensor | undefined)[], object]>([
    ["Erf", [], {}],
    ["Slice", [integers(0), integers(4), integers(2), integers(2)], {}],
    ["Split", [integers(8, 24)], { axis: int(-1) }],
    ["MatMul", [tensor("float32", [1, 32, 2], new Float32Array(64))], {}],
  ])("refuses an unsupported %s and names its node", async (opType, inputs, attributes) => {
    const graph = await withLast(opType, inputs, attributes);
    expect(() => referenceSession(graph)).toThrow(
      expect.objectContaining({
        code: "engine_unsupported",
        message: expect.stringContaining(`${opType} (node last)`),
      }),
    );
  });

  it("refuses unsupported shapes at run time", async () => {
    const graph = await withLast("Mul", [tensor("float32", [5, 1], new Float32Array(5))]);
    await expect(referenceSession(graph).run(ids)).rejects.toMatchObject({ code: "engine_unsupported" });
  });

  it("accepts the largest integer as the end of a slice", async () => {
    const whole = await referenceSession(await edge(await fusedTiny())).run(ids);
    const graph = await withLast("Slice", [integers(0), integers(2n ** 63n - 1n), integers(1)]);
    expect(await referenceSession(graph).run(ids)).toEqual(whole);
  });

  it("runs the nodes that precede all kernels on onnxruntime", async () => {
    const graph = await fusedTiny();
    const before = (node: Node, value: Value) => graph.setInputs(node, [value, ...node.inputs.slice(1)]);
    const [embedded] = [...graph.nodes].filter(({ opType }) => opType === "EmbedLayerNormalization");
    const state = embedded?.output as Value;
    const readers = [...state.users];
    const scaled = graph.add("Div", [state, graph.constant("two", float32Scalar(2))], { name: "halved" }).output;
    for (const node of readers) before(node, scaled);
    const quantized = await precisions["int8-edge"](graph)(new Set([embedded?.name ?? ""]));
    const wanted = await inFloat32(graph, ids);
    (await referenceSession(quantized).run(ids)).forEach((states, i) => {
      expect(cosine(states, wanted[i] as Float32Array)).toBeGreaterThan(MIN_COSINE);
    });
  });
});
