import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, relativeDifference, SCORE_ROUNDING } from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { LabelScore } from "./classify.ts";
import { cosineScores, entailmentIndex, entailmentScores, hypothesisOf } from "./zero-shot.ts";

const LABELS = 3;
const row = fc
  .array(fc.float({ min: -15, max: 15, noNaN: true }), { minLength: LABELS, maxLength: LABELS })
  .map((values) => Float32Array.from(values));
const rows = fc.array(row, { minLength: 1, maxLength: 6 });
const candidatesFor = (vectors: readonly Float32Array[]) => vectors.map((_, i) => `label ${i}`);
const sumOf = (scores: readonly LabelScore[]) => scores.reduce((sum, { score }) => sum + score, 0);

describe("entailmentScores", () => {
  describe.each(pipelineCases.zero_shot)("with the logits of $family, $labels", ({ labels, answers }) => {
    it.each(answers)("has the scores of transformers' pipeline: $candidates, multi_label $multi_label", (stored) => {
      const entailment = entailmentIndex(labels) as number;
      const options = { candidateLabels: stored.candidates, multiLabel: stored.multi_label };
      const found = entailmentScores(stored.logits.map(decodedFloats), entailment, options);
      expect(found.map(({ label }) => label)).toEqual(stored.results.map(([label]) => label));
      const [scores, expected] = [found.map(({ score }) => score), stored.results.map(([, score]) => score)];
      expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
    });
  });

  it("has scores with the sum 1, unless each label is scored on its own", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 0, max: LABELS - 1 }), (logits, entailment) => {
        const candidateLabels = candidatesFor(logits);
        const found = entailmentScores(logits, entailment, { candidateLabels, multiLabel: false });
        if (logits.length > 1) expect(Math.abs(sumOf(found) - 1)).toBeLessThan(logits.length * Number.EPSILON);
        for (const { label, score } of entailmentScores(logits, entailment, { candidateLabels, multiLabel: true })) {
          const own = logits[candidateLabels.indexOf(label)] as Float32Array;
          expect([{ label, score }]).toEqual(
            entailmentScores([own], entailment, { candidateLabels: [label], multiLabel: false }),
          );
        }
      }),
      seeded(200),
    );
  });
});

describe("entailmentIndex", () => {
  it.each([
    [["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2],
    [["entailed", "entailment"], 0],
    [["positive", "not_entailment"], undefined],
  ])("of %j is %s", (labels, expected) => {
    expect(entailmentIndex(labels)).toBe(expected);
  });
});

describe("hypothesisOf", () => {
  it("fills in the label as it is", () => {
    expect(hypothesisOf("This example is {}.", "$& {}")).toBe("This example is $& {}.");
  });
});

describe("cosineScores", () => {
  const text = Float32Array.of(1, 0);
  const hypotheses = [Float32Array.of(3, 4), Float32Array.of(8, 6), Float32Array.of(-1, 0)];
  const candidateLabels = ["a", "b", "c"];

  it("is a softmax over 20 times the cosines", () => {
    const powers = [0.6, 0.8, -1].map((cosine) => Math.exp(20 * cosine));
    const sum = powers.reduce((a, b) => a + b, 0);
    const found = cosineScores(text, hypotheses, { candidateLabels, multiLabel: false });
    expect(found.map(({ label }) => label)).toEqual(["b", "a", "c"]);
    expect(found[0]?.score).toBeCloseTo((powers[1] as number) / sum, 12);
    expect(found[1]?.score).toBeCloseTo((powers[0] as number) / sum, 12);
  });

  it("is the cosine, at least 0, if each label is scored on its own", () => {
    const found = cosineScores(text, hypotheses, { candidateLabels, multiLabel: true });
    expect(found).toEqual([
      { label: "b", score: 0.8 },
      { label: "a", score: 0.6 },
      { label: "c", score: 0 },
    ]);
    const single = cosineScores(text, hypotheses.slice(0, 1), { candidateLabels: ["a"], multiLabel: false });
    expect(single).toEqual([{ label: "a", score: 0.6 }]);
  });

  it("has the same order either way, for labels with positive cosines", () => {
    fc.assert(
      fc.property(row, rows, (vector, vectors) => {
        const labels = candidatesFor(vectors);
        const [one, many] = [false, true].map((multiLabel) =>
          cosineScores(vector, vectors, { candidateLabels: labels, multiLabel }),
        ) as [LabelScore[], LabelScore[]];
        const positive = many.filter(({ score }) => score > 0);
        // Labels whose cosines nearly are equal, or 0, can have equal scores in one of the lists.
        const next = (i: number) => positive[i + 1]?.score ?? 0;
        fc.pre(vectors.length > 1 && positive.every(({ score }, i) => score - next(i) > 1e-12));
        expect(one.slice(0, positive.length).map(({ label }) => label)).toEqual(positive.map(({ label }) => label));
      }),
      seeded(200),
    );
  });
});
