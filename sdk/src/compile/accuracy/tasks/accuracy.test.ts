import { expect, it } from "vitest";
import { agreement, topLabel } from "./accuracy.ts";

it("returns the index of the largest logit, and the first of equal ones", () => {
  expect([[-3, -1, -2], [0], [4, 1, 4], [1, 2, 3]].map((logits) => topLabel(Float32Array.from(logits)))).toEqual([
    1, 0, 0, 2,
  ]);
});

it("returns the percentage of positions with equal labels", () => {
  expect(agreement([1, 0, 2, 1], [1, 1, 2, 0])).toBe(50);
  expect(agreement([1, 0], [1, 0])).toBe(100);
  expect(agreement([], [])).toBeNaN();
  expect(() => agreement([1], [1, 0])).toThrow(RangeError);
});
