import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { alibiSlopes, relativeRow } from "./score-biases.ts";

interface Buckets {
  readonly buckets: number;
  readonly positions: number;
  /** Buckets of the distances 0, 1, … from transformers' make_log_bucket_position. */
  readonly of: readonly number[];
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "../../../../test/golden/families.json"), "utf8")) as {
  readonly buckets: readonly Buckets[];
};

describe("relativeRow", () => {
  it.each(golden.buckets)(
    "has transformers' $buckets buckets of $positions positions",
    ({ buckets, positions, of }) => {
      const attention = {
        maxDistance: positions,
        buckets,
        span: buckets,
        hasContentToPosition: true,
        hasPositionToContent: true,
        sharesProjections: true,
        normalizes: true,
      };
      expect(of).toHaveLength(positions);
      for (const [distance, bucket] of of.entries()) {
        expect(relativeRow(-distance, attention)).toBe(Math.min(buckets + bucket, 2 * buckets - 1));
        expect(relativeRow(distance, attention)).toBe(Math.max(buckets - bucket, 0));
      }
    },
  );
});

describe("alibiSlopes", () => {
  it("are powers of 2^(-8/heads)", () => {
    expect(alibiSlopes(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => 2 ** -n));
    expect(alibiSlopes(1)).toEqual([2 ** -8]);
  });

  it("take every other slope of twice the heads after the last power of 2", () => {
    // https://github.com/ofirpress/attention_with_linear_biases, get_slopes(12)
    expect(alibiSlopes(12)).toEqual([...alibiSlopes(8), ...[0.5, 1.5, 2.5, 3.5].map((n) => 2 ** -n)]);
  });
});
