import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodedFloats,
  pipelineCases,
  relativeDifference,
  SCORE_ROUNDING,
  utf16Indices,
} from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { type AnswerOptions, type AnswerSpan, type AnswerWindow, bestAnswers } from "./answer.ts";

/** Returns a window of CLS and words with one letter. `starts` and `ends` are the logits of CLS and the words. */
function oneLetterWords(starts: readonly number[], ends: readonly number[]): AnswerWindow {
  return {
    logits: Float32Array.from(starts.flatMap((start, i) => [start, ends[i] as number])),
    contextMask: starts.map((_, i) => i > 0),
    offsets: Int32Array.from(starts.flatMap((_, i) => (i === 0 ? [0, 0] : [2 * i - 2, 2 * i - 1]))),
    wordIds: starts.map((_, i) => i - 1),
  };
}

const contextOf = (words: number) => Array.from({ length: words }, (_, i) => String.fromCharCode(97 + i)).join(" ");
const logit = fc.float({ min: -8, max: 8, noNaN: true });
const logitPairs = fc.array(fc.tuple(logit, logit), { minLength: 2, maxLength: 12 });
const options: fc.Arbitrary<AnswerOptions> = fc.record({
  topK: fc.integer({ min: 1, max: 8 }),
  maxAnswerTokens: fc.integer({ min: 1, max: 6 }),
  handleImpossibleAnswer: fc.boolean(),
  alignToWords: fc.boolean(),
});
const answersTo = (pairs: readonly [number, number][], chosen: AnswerOptions) => {
  const window = oneLetterWords(
    pairs.map(([start]) => start),
    pairs.map(([, end]) => end),
  );
  return bestAnswers([window], contextOf(pairs.length - 1), chosen);
};

describe("bestAnswers", () => {
  describe.each(pipelineCases.answer)("with the logits of $family", ({ cases }) => {
    it.each(cases)("has the answers of transformers' pipeline in $context, $windows.length windows", (stored) => {
      const { context } = stored;
      const windows = stored.windows.map(({ logits, context_mask, offsets, word_ids }) => ({
        logits: decodedFloats(logits),
        contextMask: context_mask,
        // Offsets of the question are those of another text.
        offsets: Int32Array.from(
          utf16Indices(
            context,
            offsets.map((offset, i) => (context_mask[i >> 1] ? offset : 0)),
          ),
        ),
        wordIds: word_ids,
      }));
      for (const { options: given, results } of stored.answers) {
        const answers = bestAnswers(windows, context, {
          topK: given.top_k,
          maxAnswerTokens: given.max_answer_len,
          handleImpossibleAnswer: given.handle_impossible_answer,
          alignToWords: given.align_to_words,
        });
        expect(answers.map(({ answer, start, end }) => [answer, start, end])).toEqual(
          results.map(([answer, , start, end]) => [answer, ...utf16Indices(context, [start, end])]),
        );
        const [scores, expected] = [answers.map(({ score }) => score), results.map(([, score]) => score)];
        expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
      }
    });
  });

  it("adds up the scores of equal answers, in any case, and keeps the first place", () => {
    const window = oneLetterWords([0, 4, 5], [0, 4, 5]);
    const apart = bestAnswers([window], "b c", { topK: 3 });
    const [best, , last] = apart as [AnswerSpan, AnswerSpan, AnswerSpan];
    expect(apart.map(({ answer }) => answer)).toEqual(["c", "b c", "b"]);
    const equal = bestAnswers([window], "C c", { topK: 3 });
    expect(equal.map(({ answer }) => answer)).toEqual(["c", "C c"]);
    expect(equal[0]).toEqual({ ...best, score: best.score + last.score });
    expect(bestAnswers([window, window], "b c")).toEqual([{ ...best, score: 2 * best.score }]);
  });

  it("widens an answer to whole words, inside the context", () => {
    const window = { ...oneLetterWords([0, 0, 9, 0], [0, 0, 9, 0]), wordIds: [0, 0, 0, 1] };
    // Words of the question have the same indices.
    window.offsets.set([3, 4]);
    expect(bestAnswers([window], "a b c")[0]).toMatchObject({ answer: "a b", start: 0, end: 3 });
    expect(bestAnswers([window], "a b c", { alignToWords: false })[0]).toMatchObject({ answer: "b" });
    const wordless = { ...window, wordIds: [-1, -1, -1, -1] };
    expect(bestAnswers([wordless], "a b c")[0]).toMatchObject({ answer: "b" });
  });

  it("gives the empty answer the lowest score of CLS in any window", () => {
    const [sure, unsure] = [oneLetterWords([9, 0], [9, 0]), oneLetterWords([0, 1], [0, 1])];
    const none = ({ score }: AnswerSpan) => score;
    const impossible = { topK: 5, handleImpossibleAnswer: true };
    const alone = bestAnswers([unsure], "a", impossible).find(({ answer }) => answer === "") as AnswerSpan;
    expect(alone).toMatchObject({ start: 0, end: 0 });
    expect(none(alone)).toBeCloseTo(1 / (1 + Math.E) ** 2, 12);
    expect(bestAnswers([sure, unsure], "a", impossible)).toContainEqual(alone);
    expect(bestAnswers([sure], "a", { handleImpossibleAnswer: true })[0]?.answer).toBe("");
    expect(bestAnswers([sure], "a")[0]?.answer).toBe("a");
  });

  it("returns spans of the context, of at most maxAnswerTokens words, best first", () => {
    fc.assert(
      fc.property(logitPairs, options, (pairs, chosen) => {
        const context = contextOf(pairs.length - 1);
        const answers = answersTo(pairs, chosen);
        expect(answers.length).toBeLessThanOrEqual(chosen.topK as number);
        const scores = answers.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        for (const { answer, start, end, score } of answers) {
          expect(answer).toBe(context.slice(start, end));
          expect(answer.split(" ").length).toBeLessThanOrEqual(chosen.maxAnswerTokens as number);
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(1);
        }
      }),
      seeded(200),
    );
  });

  it("returns the beginning of a longer list for a smaller topK", () => {
    fc.assert(
      fc.property(logitPairs, options, (pairs, chosen) => {
        const all = answersTo(pairs, { ...chosen, topK: 100 });
        expect(answersTo(pairs, chosen)).toEqual(all.slice(0, chosen.topK));
      }),
      seeded(200),
    );
  });
});
