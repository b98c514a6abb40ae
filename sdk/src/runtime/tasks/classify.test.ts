import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, relativeDifference, SCORE_ROUNDING } from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { type Activation, defaultActivation, labelScores } from "./classify.ts";

const classifier = fc
  .array(fc.float({ min: -30, max: 30, noNaN: true }), { minLength: 1, maxLength: 8 })
  .map((logits) => ({ logits: Float32Array.from(logits), labels: logits.map((_, i) => `LABEL_${i}`) }));
const activation = fc.constantFrom<Activation>("softmax", "sigmoid", "none");

describe("labelScores", () => {
  describe.each(pipelineCases.classify)("with the logits of $family, $problem_type, $labels", (model) => {
    it("has the labels and scores of transformers' pipeline", () => {
      const fallback = defaultActivation(model.labels.length, model.problem_type ?? undefined);
      for (const { logits, answers } of model.texts) {
        for (const { options, results } of answers) {
          const { function_to_apply = fallback, top_k } = options;
          const found = labelScores(decodedFloats(logits), model.labels, function_to_apply, top_k);
          expect(found.map(({ label }) => label)).toEqual(results.map(([label]) => label));
          const [scores, expected] = [found.map(({ score }) => score), results.map(([, score]) => score)];
          expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
        }
      }
    });
  });

  it("keeps the order of labels with equal scores", () => {
    const found = labelScores(Float32Array.of(1, 2, 1, 2), ["a", "b", "c", "d"], "none");
    expect(found.map(({ label }) => label)).toEqual(["b", "d", "a", "c"]);
  });

  it("returns each label once, best first", () => {
    fc.assert(
      fc.property(classifier, activation, ({ logits, labels }, kind) => {
        const found = labelScores(logits, labels, kind);
        expect(found.map(({ label }) => label).sort()).toEqual([...labels].sort());
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
      }),
      seeded(200),
    );
  });

  it("returns the beginning of all results for topK", () => {
    fc.assert(
      fc.property(classifier, activation, fc.integer({ min: 0, max: 10 }), ({ logits, labels }, kind, topK) => {
        expect(labelScores(logits, labels, kind, topK)).toEqual(labelScores(logits, labels, kind).slice(0, topK));
      }),
      seeded(200),
    );
  });
});

describe("defaultActivation", () => {
  it.each([
    [1, undefined, "sigmoid"],
    [2, undefined, "softmax"],
    [1, "regression", "none"],
    [3, "regression", "none"],
    [3, "multi_label_classification", "sigmoid"],
    [3, "single_label_classification", "softmax"],
  ] as const)("of %d labels and the problem type %s is %s", (labels, problemType, expected) => {
    expect(defaultActivation(labels, problemType)).toBe(expected);
  });
});
