import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { classifierCases, classifierIds, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { tinyNomic } from "#test/fixtures/tiny-nomic.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, oneModel, type TokenIds } from "../../runtime/engine/engine.ts";
import { type EncoderConfig, maxTokensOf } from "../checkpoint/encoder-config.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./encode-program.ts";
import { lowerGraph } from "./lower-graph.ts";

const PADDING = 1;
const sequences = classifierIds.map((ids) => Int32Array.from(ids.filter((id) => id !== PADDING)));
/** Texts of different lengths. Some contain the id of the padding token. */
const texts: TokenIds[] = [
  ...sequences,
  Int32Array.of(5, 6, PADDING, 8, 9),
  Int32Array.of(PADDING, PADDING, 7, PADDING),
  ...[1, 2, 3].map((length) => (sequences[0] as TokenIds).slice(0, length)),
];
/** Size of RoBERTa base, but with one layer, because the number of layers does not matter here. */
const ROBERTA_BASE = {
  model_type: "roberta",
  pad_token_id: PADDING,
  hidden_size: 768,
  num_attention_heads: 12,
  num_hidden_layers: 1,
  max_position_embeddings: 514,
  type_vocab_size: 1,
};
const maxTokens = Math.max(...texts.map(({ length }) => length));

let engine: Engine;
beforeAll(async () => {
  engine = await engineOnThisMachine("wasm");
});

/**
 * Checks that the engine computes the same bits as the reference kernels, with one text and with several texts per
 * call.
 */
async function expectSame(fused: Graph, { vocabularySize: vocabulary }: EncoderConfig): Promise<void> {
  const graph = await precisions["int8-edge"](fused)();
  const session = await engine.load(oneModel(await encodeProgram(graph, { maxTokens, vocabulary })));
  const wanted = await referenceSession(graph).run(texts);
  expect(await session.run(texts)).toEqual(wanted);
  for (const [i, text] of texts.entries()) expect(await session.run([text])).toEqual([wanted[i]]);
}

const expectRefused = async (fused: Graph, { vocabularySize: vocabulary }: EncoderConfig) =>
  expect(encodeProgram(await precisions["int8-edge"](fused)(), { maxTokens, vocabulary })).rejects.toMatchObject({
    code: "engine_unsupported",
  });

describe.each(classifierCases)("a program of $name", (stored) => {
  const load = async () => {
    const folder = join(await temporaryFolder(), "model");
    await writeClassifier(folder, stored);
    return readHeadedModel(folder, "sequence-classification");
  };

  /** Whether the engine refuses a case: rotary models with heads of four numbers. */
  const isRefused = ({ config }: Awaited<ReturnType<typeof load>>) =>
    config.rotaryTheta !== undefined && (config.hiddenSize / config.heads / 2) % 4 !== 0;

  it("computes the hidden states like the reference kernels, or is refused", async () => {
    const classifier = await load();
    const fused = await fusedGraph(classifier.config, encoderWeights(classifier));
    await (isRefused(classifier) ? expectRefused(fused, classifier.config) : expectSame(fused, classifier.config));
  });

  it("computes the classifier's logits like the reference kernels, or is refused", async () => {
    const classifier = await load();
    const fused = headGraph(classifier);
    await fuseGraph(fused);
    await (isRefused(classifier) ? expectRefused(fused, classifier.config) : expectSame(fused, classifier.config));
  });
});

it("computes activations in place", async () => {
  const { config, weights } = tinyBert();
  const graph = await precisions["int8-edge"](await fusedGraph(config, weights))();
  const { program } = await lowerGraph(graph, { maxTokens, vocabulary: config.vocabularySize });
  const activations = program.steps.filter((step) => step.op === "activation");
  expect(activations).toHaveLength(config.layers);
  for (const { x, out } of activations) expect(x).toEqual({ value: out, column: 0 });
});

it("supports the 512 positions of RoBERTa base", async () => {
  const { config, weights } = tinyBert({ config: ROBERTA_BASE });
  const graph = await precisions["int8-edge"](await fusedGraph(config, weights))();
  const size = { maxTokens: maxTokensOf(config), vocabulary: config.vocabularySize };
  expect(size.maxTokens).toBe(512);
  const session = await engine.load(oneModel(await encodeProgram(graph, size)));
  const longest = Int32Array.from({ length: 512 }, (_, i) => (i % 7 === 3 ? PADDING : i % 50));
  const [hiddenStates] = await session.run([longest]);
  expect(hiddenStates?.every(Number.isFinite)).toBe(true);
  const shorter = longest.slice(0, 20);
  expect(await session.run([shorter])).toEqual(await referenceSession(graph).run([shorter]));
});

const nomic = tinyNomic().current;

describe.each([
  ["BERT", tinyBert],
  ["ModernBERT", tinyModernBert],
  ["Nomic", () => ({ config: nomic.config, weights: encoderWeights(nomic) })],
] as const)("a program of %s", (_, draw) => {
  it("computes the same bits as the reference kernels", async () => {
    const { config, weights } = draw();
    await expectSame(await fusedGraph(config, weights), config);
  });
});
