import { expect, it } from "vitest";
import { scoreSts } from "./score-sts.ts";

/** Angles of the vectors. The cosine of two vectors falls with the difference of their angles. */
const angles: Readonly<Record<string, number>> = { a: 0, b: 0.1, c: 0.7, d: 1.5 };
const embed = async (texts: readonly string[]) =>
  texts.map((text, i) => {
    const angle = angles[text] as number;
    return Float32Array.of((i + 1) * Math.cos(angle), (i + 1) * Math.sin(angle));
  });
const pair = (score: number, first: string, second: string) => ({ score, first, second });

it("returns 100 when cosines rise with the scores, and -100 when they fall", async () => {
  expect(await scoreSts([pair(1, "a", "d"), pair(3, "c", "a"), pair(5, "a", "b")], embed)).toBeCloseTo(100, 10);
  expect(await scoreSts([pair(5, "a", "d"), pair(3, "c", "a"), pair(1, "a", "b")], embed)).toBeCloseTo(-100, 10);
});

it("returns the rank correlation × 100 for other orders", async () => {
  const pairs = [pair(1, "a", "c"), pair(2, "a", "d"), pair(3, "b", "c"), pair(4, "a", "b")];
  // The ranks of the cosines are 2, 1, 3, 4. Correlation: 1 - 6 · 2 / (4 · 15).
  expect(await scoreSts(pairs, embed)).toBeCloseTo(80, 10);
});
