import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type ClassifierCase,
  caseOf,
  classifierCases,
  classifierIds,
  type TokenHeadCase,
  tokenHeadCases,
  writeClassifier,
} from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { fusedOf, largestDifference, logitsOf } from "#test/oracles/logits.ts";
import { symbolicDim } from "../graph/dim.ts";
import { families } from "./families/index.ts";
import { headGraph } from "./head-graph.ts";
import type { HeadedModel } from "./headed-model.ts";

/**
 * Maximum difference from transformers' logits. transformers adds float32 numbers in another order than our graph, and
 * the case files store six decimals. Measured: at most 1.5e-6.
 */
const FLOAT32_ROUNDING = 1e-5;
/** Minimum change of a logit when a config.json key of the head changes. Measured: at least 0.18. */
const VISIBLE = 0.01;

async function classifierOf(stored: ClassifierCase, keys: object = {}): Promise<HeadedModel> {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, stored, { keys });
  return readHeadedModel(folder, "sequence-classification");
}

describe("a classifier's graph", () => {
  it("has a test case for every family", () => {
    const checked = new Set(classifierCases.map(({ config }) => config["model_type"]));
    expect([...checked].sort()).toEqual(Object.keys(families).sort());
  });

  it.each(classifierCases)("computes transformers' logits, decomposed and fully fused: $name", async (stored) => {
    const graph = headGraph(await classifierOf(stored));
    const { fused, reasons } = await fusedOf(graph);
    expect(reasons).toEqual([]);
    for (const written of [graph, fused]) {
      const [logits = []] = await logitsOf(written, [classifierIds], 1);
      expect(largestDifference(logits, stored.logits.flat())).toBeLessThan(FLOAT32_ROUNDING);
    }
  });

  it("has one output: a float32 for each text and label", async () => {
    const { outputs } = headGraph(await classifierOf(caseOf("bert")));
    expect(outputs.map(({ name, value: { dtype, shape } }) => ({ name, dtype, shape }))).toEqual([
      { name: "logits", dtype: "float32", shape: [symbolicDim("batch"), 3] },
    ]);
  });

  it.each([
    ["modernbert", { classifier_pooling: "mean" }],
    ["modernbert", { classifier_activation: "relu" }],
    ["modernbert, mean", { classifier_pooling: "cls" }],
    ["modernbert, mean", { classifier_bias: false }],
    ["eurobert", { classifier_pooling: "mean" }],
    ["eurobert", { classifier_pooling: null, clf_pooling: "bos" }],
    ["deberta-v2", { pooler_hidden_act: "tanh" }],
  ])("reads every key of a head: %s with %j", async (name, keys) => {
    const stored = caseOf(name);
    const [logits = []] = await logitsOf(headGraph(await classifierOf(stored, keys)), [classifierIds], 1);
    expect(largestDifference(logits, stored.logits.flat())).toBeGreaterThan(VISIBLE);
  });

  it("averages only unmasked tokens, wherever the padding is", async () => {
    const graph = headGraph(await classifierOf(caseOf("modernbert, mean")));
    const { fused } = await fusedOf(graph);
    for (const written of [graph, fused]) {
      const [alone = [], right = [], left = []] = await logitsOf(
        written,
        [[[0, 4, 18, 2]], [[0, 4, 18, 2, 1, 1, 1]], [[1, 1, 1, 0, 4, 18, 2]]],
        1,
      );
      expect(largestDifference(alone, right)).toBeLessThan(FLOAT32_ROUNDING);
      expect(largestDifference(alone, left)).toBeLessThan(FLOAT32_ROUNDING);
    }
  });
});

describe("the graph of a head that computes logits for each token", () => {
  const load = async (stored: TokenHeadCase) => {
    const folder = join(await temporaryFolder(), "model");
    await writeClassifier(folder, stored);
    return readHeadedModel(folder, stored.head);
  };

  it("has a test case for every such head of every family", () => {
    const checked = new Set(
      [...classifierCases, ...tokenHeadCases].map(({ config }) => `${config["model_type"]} ${config["architectures"]}`),
    );
    for (const { head, config } of tokenHeadCases)
      expect(families[`${config["model_type"]}`]?.heads[head]).toBeDefined();
    const distinct = [...new Set(Object.values(families))];
    const known = distinct.flatMap(({ heads }) => Object.keys(heads));
    const cases = new Set(tokenHeadCases.map(({ head, config }) => `${head} ${config["model_type"]}`));
    expect(checked.size).toBeGreaterThan(0);
    expect(cases.size).toBe(known.filter((head) => head !== "sequence-classification").length);
  });

  it.each(tokenHeadCases)("computes transformers' logits, decomposed and fully fused: $name", async (stored) => {
    const graph = headGraph(await load(stored));
    const { fused, reasons } = await fusedOf(graph);
    expect(reasons).toEqual([]);
    // transformers computes logits for padding, too. They have no meaning, and fused attention computes others.
    const shown = stored.logits.map((rows, text) => rows.filter((_, token) => classifierIds[text]?.[token] !== 1));
    for (const written of [graph, fused]) {
      const [logits = []] = await logitsOf(written, [classifierIds], 1);
      const width = stored.logits[0]?.[0]?.length ?? 0;
      const found = classifierIds.flatMap((ids, text) =>
        ids.flatMap((id, token) => (id === 1 ? [] : logits.slice((text * ids.length + token) * width).slice(0, width))),
      );
      expect(largestDifference(found, shown.flat(2))).toBeLessThan(FLOAT32_ROUNDING);
    }
  });
});
