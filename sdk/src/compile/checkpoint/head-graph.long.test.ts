import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { fusedOf, largestDifference, logitsOf } from "#test/oracles/logits.ts";
import { createJsonTokenizer } from "../../runtime/tokenizer/json-tokenizer.ts";
import { readLabelled, scoreClassification } from "../accuracy/tasks/classification.ts";
import type { Graph } from "../graph/graph.ts";
import { headGraph } from "./head-graph.ts";
import { readTokenizer } from "./model-folder.ts";

/** Maximum difference of a real model's logits. golden.json stores five decimals. Measured: at most 7.0e-6. */
const GOLDEN_ROUNDING = 2e-5;

describeShared("models/bert-edge-mini-sst2", "bert-edge-mini-sst2", (folder) => {
  let labels: readonly string[];
  let graph: Graph;
  let fused: Awaited<ReturnType<typeof fusedOf>>;
  let idsOf: (text: string) => number[];
  beforeAll(async () => {
    const classifier = await readHeadedModel(folder, "sequence-classification");
    labels = classifier.labels;
    graph = headGraph(classifier);
    fused = await fusedOf(graph);
    const tokenizer = await readTokenizer(folder);
    const { encode } = createJsonTokenizer(tokenizer.json, tokenizer.config);
    idsOf = (text) => [...encode(text, classifier.config.maxPositions).ids];
  });

  /** Computes the logits of each text. Texts with the same number of tokens run together. */
  async function logitsOfTexts(written: Graph, texts: readonly string[]): Promise<number[][]> {
    const rows = texts.map((text, at) => ({ at, ids: idsOf(text) }));
    const batches = [...Map.groupBy(rows, ({ ids }) => ids.length).values()];
    const found = await logitsOf(
      written,
      batches.map((batch) => batch.map(({ ids }) => ids)),
    );
    const logits: number[][] = [];
    for (const [i, batch] of batches.entries()) {
      for (const [row, { at }] of batch.entries()) {
        logits[at] = found[i]?.slice(row * labels.length, (row + 1) * labels.length) ?? [];
      }
    }
    return logits;
  }

  it("computes transformers' logits", async () => {
    expect(fused.reasons).toEqual([]);
    const { cases } = JSON.parse(await readFile(join(folder, "golden.json"), "utf8")) as {
      cases: { text: string; logits: number[] }[];
    };
    expect(cases).toHaveLength(80);
    for (const written of [graph, fused.fused]) {
      const logits = await logitsOfTexts(
        written,
        cases.map(({ text }) => text),
      );
      const worst = Math.max(...cases.map((golden, i) => largestDifference(logits[i] ?? [], golden.logits)));
      expect(worst).toBeLessThan(GOLDEN_ROUNDING);
    }
  });

  describeShared("data/sst2", "on SST-2", (data) => {
    it("has the accuracy that transformers measured on the dev set, 770 of 872", async () => {
      expect(labels).toEqual(["NEGATIVE", "POSITIVE"]);
      const classify = async (texts: readonly string[]) =>
        (await logitsOfTexts(fused.fused, texts)).map((logits) => Float32Array.from(logits));
      const texts = await readLabelled(join(data, "dev.tsv"), labels);
      expect(await scoreClassification(texts, classify)).toBeCloseTo((100 * 770) / 872, 10);
    });
  });
});
