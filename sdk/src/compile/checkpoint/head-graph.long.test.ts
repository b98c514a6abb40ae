import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeShared } from "#test/fixtures/shared.ts";
import { fusedOf, largestDifference, logitsOf, type Rows } from "#test/oracles/logits.ts";
import { createJsonTokenizer } from "../../runtime/tokenizer/json-tokenizer.ts";
import { readLabelled } from "../accuracy/tasks/read-labelled.ts";
import { scoreClassification } from "../accuracy/tasks/score-classification.ts";
import { headGraph } from "./head-graph.ts";
import { readHeadedModel } from "./headed-model.ts";
import { readTokenizer } from "./model-folder.ts";

/** Maximum difference of a real model's logits. golden.json stores five decimals. Measured: at most 7.0e-6. */
const GOLDEN_ROUNDING = 2e-5;

describeShared("models/bert-edge-mini-sst2", "bert-edge-mini-sst2", (folder) => {
  const load = async () => {
    const classifier = await readHeadedModel(folder, "sequence-classification");
    const { labels } = classifier;
    const graph = headGraph(classifier);
    const tokenizer = await readTokenizer(folder);
    const { encode } = createJsonTokenizer(tokenizer.json, tokenizer.config);
    const encoded = (text: string): Rows => [[...encode(text, classifier.config.maxPositions).ids]];
    return { graph, labels, encoded, ...(await fusedOf(graph)) };
  };

  it("computes transformers' logits", async () => {
    const { graph, fused, encoded, reasons } = await load();
    expect(reasons).toEqual([]);
    const { cases } = JSON.parse(await readFile(join(folder, "golden.json"), "utf8")) as {
      cases: { text: string; logits: number[] }[];
    };
    expect(cases).toHaveLength(80);
    for (const written of [graph, fused]) {
      const logits = await logitsOf(
        written,
        cases.map(({ text }) => encoded(text)),
      );
      const worst = Math.max(...cases.map((golden, i) => largestDifference(logits[i] ?? [], golden.logits)));
      expect(worst).toBeLessThan(GOLDEN_ROUNDING);
    }
  });

  describeShared("data/sst2", "on SST-2", (data) => {
    it("has the accuracy that transformers measured on the dev set, 770 of 872", async () => {
      const { fused, labels, encoded } = await load();
      expect(labels).toEqual(["NEGATIVE", "POSITIVE"]);
      const classify = async (texts: readonly string[]) =>
        (await logitsOf(fused, texts.map(encoded))).map((logits) => Float32Array.from(logits));
      const texts = await readLabelled(join(data, "dev.tsv"), labels);
      expect(await scoreClassification(texts, classify)).toBeCloseTo((100 * 770) / 872, 10);
    });
  });
});
