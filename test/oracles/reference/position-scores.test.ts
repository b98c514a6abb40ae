import { describe, expect, it } from "vitest";
import { randomNumbers } from "../../fixtures/seeded.ts";
import { integerProduct } from "./integer-product.ts";
import type { IntegerWeight } from "./linear.ts";
import { positionScores } from "./position-scores.ts";

const [HEADS, SIZE, TOKENS, BUCKETS] = [2, 8, 5, 3];
/** Largest rounding error of a term: 8 products of numbers below 1, of which one factor is rounded to 8 bits. Measured: 0.0085 for each term. */
const ROUNDING = 0.012;

const random = randomNumbers(3);
const floats = (length: number) => Float32Array.from({ length }, () => 2 * random() - 1);
/** Position keys of one head, [buckets, size], with 7 bits: real = (integer − 64) / 64. */
function weightOf(): IntegerWeight {
  const values = Uint8Array.from({ length: BUCKETS * SIZE }, () => Math.floor(128 * random()));
  const sums = Int32Array.from({ length: BUCKETS }, (_, b) =>
    values.subarray(b * SIZE, (b + 1) * SIZE).reduce((sum, value) => sum + value, 0),
  );
  return {
    values,
    scales: new Float32Array(BUCKETS).fill(1 / 64),
    zeroPoints: new Int32Array(BUCKETS).fill(64),
    sums,
    bias: new Float32Array(BUCKETS),
  };
}
const factor = () => ({ x: floats(TOKENS * HEADS * SIZE), weights: Array.from({ length: HEADS }, weightOf) });
const buckets = Int32Array.from({ length: TOKENS * TOKENS }, (_, at) => (at * 7) % BUCKETS);

/** Computes one score in float64. */
function score({ x, weights }: ReturnType<typeof factor>, head: number, token: number, bucket: number): number {
  const { values } = weights[head] as IntegerWeight;
  return Array.from({ length: SIZE }, (_, i) => {
    const content = x[(token * HEADS + head) * SIZE + i] as number;
    return (content * ((values[bucket * SIZE + i] as number) - 64)) / 64;
  }).reduce((sum, term) => sum + term, 0);
}

describe("positionScores", () => {
  const [queries, keys] = [factor(), factor()];
  it.each([
    ["both terms", queries, keys],
    ["position keys only", queries, undefined],
    ["position queries only", undefined, keys],
  ])("approximates the scores of each pair of tokens with %s", async (_, ofQueries, ofKeys) => {
    const found = await positionScores(ofQueries, ofKeys, buckets, integerProduct);
    expect(found).toHaveLength(HEADS * TOKENS * TOKENS);
    found.forEach((value, at) => {
      const pair = at % (TOKENS * TOKENS);
      const [head, i, j] = [Math.floor(at / (TOKENS * TOKENS)), Math.floor(pair / TOKENS), pair % TOKENS];
      const bucket = buckets[pair] as number;
      const wanted =
        (ofQueries ? score(ofQueries, head, i, bucket) : 0) + (ofKeys ? score(ofKeys, head, j, bucket) : 0);
      expect(Math.abs(value - wanted)).toBeLessThan((ofQueries ? ROUNDING : 0) + (ofKeys ? ROUNDING : 0));
    });
  });
});
