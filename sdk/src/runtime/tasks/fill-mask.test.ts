import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, relativeDifference, SCORE_ROUNDING } from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { maskCandidates } from "./fill-mask.ts";

const VOCABULARY = 10;
const masks = fc
  .integer({ min: 1, max: 3 })
  .chain((rows) =>
    fc.array(fc.float({ min: -20, max: 20, noNaN: true }), {
      minLength: rows * VOCABULARY,
      maxLength: rows * VOCABULARY,
    }),
  )
  .map((logits) => Float32Array.from(logits));

describe("maskCandidates", () => {
  describe.each(pipelineCases.fill_mask)("with the logits of $family", ({ vocabulary, texts }) => {
    it.each(texts)("has the tokens of transformers' pipeline for $text", ({ logits, answers }) => {
      for (const { top_k, targets, results } of answers) {
        const options = { topK: top_k ?? undefined, targets: targets ?? undefined };
        const found = maskCandidates(decodedFloats(logits), vocabulary, options);
        expect(found.map((row) => row.map(({ tokenId }) => tokenId))).toEqual(
          results.map((row) => row.map(([tokenId]) => tokenId)),
        );
        const scores = found.flat().map(({ score }) => score);
        const expected = results.flat().map(([, score]) => score);
        expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
      }
    });
  });

  it("returns scores of all tokens with the sum 1 for each mask token", () => {
    fc.assert(
      fc.property(masks, (logits) => {
        for (const row of maskCandidates(logits, VOCABULARY, { topK: VOCABULARY })) {
          expect(row).toHaveLength(VOCABULARY);
          const sum = row.reduce((total, { score }) => total + score, 0);
          expect(Math.abs(sum - 1)).toBeLessThan(VOCABULARY * Number.EPSILON);
        }
      }),
      seeded(100),
    );
  });

  it("chooses from the targets, with the scores that they have without targets", () => {
    const targets = fc.array(fc.integer({ min: 0, max: VOCABULARY - 1 }), { maxLength: 6 });
    fc.assert(
      fc.property(masks, targets, (logits, chosen) => {
        const all = maskCandidates(logits, VOCABULARY, { topK: VOCABULARY });
        const found = maskCandidates(logits, VOCABULARY, { targets: chosen });
        const expected = all.map((row) => row.filter(({ tokenId }) => chosen.includes(tokenId)).slice(0, 5));
        expect(found.map((row) => row.map(({ score }) => score))).toEqual(
          expected.map((row) => row.map(({ score }) => score)),
        );
        expect(found.flat().every(({ tokenId }) => chosen.includes(tokenId))).toBe(true);
      }),
      seeded(100),
    );
  });
});
