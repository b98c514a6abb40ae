import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodedFloats,
  pipelineCases,
  relativeDifference,
  rowsOf,
  SCORE_ROUNDING,
} from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { Manifest, ScoreActivation } from "../../artifact/manifest.ts";
import { pairScorer } from "./pair-scorer.ts";
import { rankedDocuments, rerankCall, similarities, similarityCall } from "./rerank.ts";

const { dimensions, cosines, sigmoids, ...golden } = pipelineCases.vectors;
const rows = rowsOf(decodedFloats(golden.rows), dimensions);
const first = rows[0] as Float32Array<ArrayBuffer>;

const scorer = (labels: readonly string[], options: object = {}) =>
  ({ name: "m", task: "classify", input: "pair", labels, ...options }) as unknown as Manifest;
const texts = (count: number) => Array.from({ length: count }, (_, i) => `text ${i}`);
const rowsOfLogits = (rows: readonly (readonly number[])[]) => rows.map((row) => Float32Array.from(row));

describe("a cross-encoder with one label", () => {
  const logits = rowsOf(first, 1);
  const scores = (model: Manifest, activation?: ScoreActivation) =>
    rerankCall("q", texts(logits.length), { activation })
      .on(model)
      .decode(logits)
      .toSorted((a, b) => a.index - b.index)
      .map(({ score }) => score);

  it("scores by torch's sigmoid of the logit, or by the logit", () => {
    const found = scores(scorer(["LABEL_0"]));
    expect(found).toHaveLength(sigmoids.length);
    expect(relativeDifference(found, sigmoids)).toBeLessThan(SCORE_ROUNDING);
    expect(scores(scorer(["LABEL_0"], { activation: "none" }))).toEqual([...first]);
    expect(scores(scorer(["LABEL_0"]), "none")).toEqual([...first]);
    expect(scores(scorer(["LABEL_0"], { activation: "none" }), "sigmoid")).toEqual(found);
  });

  it("ranks by logits where all scores are 1, and equal logits in the order of the request", () => {
    const saturated = rowsOfLogits([[39.4], [39.6], [39.4], [39.8]]);
    const call = (topN?: number) =>
      rerankCall("q", texts(4), { topN })
        .on(scorer(["LABEL_0"]))
        .decode(saturated);
    expect(call().map(({ index, score }) => [index, score])).toEqual([
      [3, 1],
      [1, 1],
      [0, 1],
      [2, 1],
    ]);
    expect(call(1)).toEqual([{ index: 3, score: 1 }]);
    expect(
      similarityCall("q", texts(4))
        .on(scorer(["LABEL_0"]))
        .decode(saturated),
    ).toEqual([1, 1, 1, 1]);
  });
});

describe("a classifier of pairs with two labels", () => {
  const logits = rowsOfLogits([
    [0, 1],
    [3, 1],
    [-60, 0],
    [-70, 0],
  ]);
  const softmax = (a: number, b: number) => Math.exp(b) / (Math.exp(a) + Math.exp(b));

  it("scores by the probability of its label, and ranks by the difference of the logits", () => {
    const model = scorer(["no", "yes"], { activation: "none" });
    expect(rerankCall("q", texts(4)).on(model).decode(logits)).toEqual([
      { index: 3, score: 1 },
      { index: 2, score: 1 },
      { index: 0, score: expect.closeTo(softmax(0, 1), 12) },
      { index: 1, score: expect.closeTo(softmax(3, 1), 12) },
    ]);
    const raw = rerankCall("q", texts(4), { activation: "none", topN: 1 }).on(model).decode(logits);
    expect(raw).toEqual([{ index: 3, score: 70 }]);
    expect(similarityCall("q", ["a"]).on(model).decode(logits.slice(0, 1))).toEqual([
      expect.closeTo(softmax(0, 1), 12),
    ]);
  });

  it("scores by the sigmoid of the label's logit if both labels can be true", () => {
    const model = scorer(["relevant", "recent"], { problem: "multi_label_classification" });
    expect(
      rerankCall("q", ["a"])
        .on(model)
        .decode(rowsOfLogits([[0, 5]])),
    ).toEqual([{ index: 0, score: 0.5 }]);
  });

  it.each([
    [["LABEL_0", "LABEL_1"], 1],
    [["yes", "no"], 1],
    [["Relevant", "other"], 0],
    [["not_relevant", "relevant"], 1],
    [["relevant", "Not-Relevant"], 0],
    [["relevant", "irrelevant"], 0],
    [["ENTAILMENT", "not_entailment"], 0],
    [["POSITIVE", "NEGATIVE"], 0],
    [["relevant", "highly relevant"], 1],
  ])("finds the label of %j", (labels, index) => {
    expect(pairScorer(scorer(labels))?.label).toBe(index);
  });
});

it("a model with three labels, or of single texts, scores no pairs", () => {
  expect(pairScorer(scorer(["a", "b", "relevant"]))).toBeUndefined();
  expect(pairScorer(scorer(["a", "b"], { input: "text" }))).toBeUndefined();
});

describe("similarities", () => {
  it("are torch's cosines", () => {
    const found = similarities(first, rows);
    expect(found).toHaveLength(cosines.length);
    expect(relativeDifference(found, cosines)).toBeLessThan(SCORE_ROUNDING);
  });
});

describe("similarities with another function", () => {
  const [a, b] = [Float32Array.of(1, -2, 3), Float32Array.of(4, 2, -1)];
  it.each([
    ["dot", 4 - 4 - 3],
    ["euclidean", -Math.sqrt(9 + 16 + 16)],
    ["manhattan", -(3 + 4 + 4)],
  ] as const)("%s", (name, expected) => {
    expect(similarities(a, [b], name)).toEqual([expected]);
  });
});

describe("rankedDocuments", () => {
  const scoreOf = (rank: number) => rank / 2;

  it("sorts by rank, and keeps the order of equal ranks", () => {
    expect(rankedDocuments([0.5, 0.9, 0.5], { scoreOf })).toEqual([
      { index: 1, score: 0.45 },
      { index: 0, score: 0.25 },
      { index: 2, score: 0.25 },
    ]);
  });

  it("returns each document once, and the beginning of that list for topN", () => {
    const ranks = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(ranks, fc.integer({ min: 0, max: 25 }), (given, topN) => {
        const all = rankedDocuments(given, { scoreOf });
        expect(all.map(({ index }) => index).sort((a, b) => a - b)).toEqual(given.map((_, i) => i));
        expect(all.every(({ index, score }) => score === scoreOf(given[index] as number))).toBe(true);
        expect(rankedDocuments(given, { scoreOf, topN })).toEqual(all.slice(0, topN));
      }),
      seeded(200),
    );
  });
});
