import { expect, it } from "vitest";
import { answerF1, bestSpan } from "./score-answers.ts";
import { entityF1, IGNORED } from "./score-tags.ts";

const names = ["O", "B-person", "I-person", "B-place"];

it("counts entities whose type and words are right", () => {
  const gold = [[IGNORED, 1, 2, IGNORED, 0, 3, IGNORED]];
  expect(entityF1(names, gold, gold)).toBe(100);
  // The person ends too early. The place is right. The label of the ignored token does not count.
  expect(entityF1(names, gold, [[3, 1, 0, 1, 0, 3, 0]])).toBe(50);
  // A third entity is found.
  expect(entityF1(names, gold, [[0, 1, 2, 0, 3, 3, 0]])).toBe(80);
});

it("chooses the span with the largest sum, behind the question and before [SEP]", () => {
  //              token        0     1     2     3     4
  const logits = Float32Array.of(9, 9, 1, 0, 3, 0, 0, 4, 9, 9);
  expect(bestSpan(logits, 1)).toEqual({ start: 2, end: 3 });
});

it("measures the overlap of answers", () => {
  const gold = [
    { start: 2, end: 5 },
    { start: 1, end: 1 },
  ];
  expect(answerF1(gold, gold)).toBe(100);
  expect(answerF1(gold, [{ start: 4, end: 7 }, gold[1] as never])).toBe(75);
  expect(
    answerF1(gold, [
      { start: 6, end: 7 },
      { start: 2, end: 2 },
    ]),
  ).toBe(0);
});
