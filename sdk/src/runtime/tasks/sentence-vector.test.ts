import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cosine, sentenceVector } from "./sentence-vector.ts";

/** The relative rounding error of a float32 number is up to 2^-24. A norm adds up a few of these errors. */
const FLOAT32_TOLERANCE = 1e-6;

const plain = { normalize: false } as const;
const value = fc.float({ min: -1_000, max: 1_000, noNaN: true, noDefaultInfinity: true });
const dimensions = fc.integer({ min: 1, max: 16 });
const hiddenStates = dimensions.chain((width) =>
  fc.record({
    width: fc.constant(width),
    hiddenStates: fc
      .integer({ min: 1, max: 6 })
      .chain((tokens) => fc.array(value, { minLength: tokens * width, maxLength: tokens * width }))
      .map((values) => Float32Array.from(values)),
  }),
);
const pooling = fc.constantFrom("mean", "cls", "max", "last");
const vectorPair = dimensions.chain((width) => {
  const vector = fc.array(value, { minLength: width, maxLength: width }).map((values) => Float32Array.from(values));
  return fc.tuple(vector, vector);
});
const norm = (vector: Float32Array) => Math.hypot(...vector);

describe("sentenceVector", () => {
  const threeTokens = Float32Array.of(1, -2, 5, 4, 0, -3);

  it("averages the tokens for mean", () => {
    expect([...sentenceVector(threeTokens, 2, { pooling: "mean", ...plain })]).toEqual([2, Math.fround(-1 / 3)]);
  });

  it("uses the first token for cls", () => {
    expect([...sentenceVector(threeTokens, 2, { pooling: "cls", ...plain })]).toEqual([1, -2]);
  });

  it("uses the last token for last", () => {
    expect([...sentenceVector(threeTokens, 2, { pooling: "last", ...plain })]).toEqual([0, -3]);
  });

  it("uses each dimension's maximum for max", () => {
    expect([...sentenceVector(threeTokens, 2, { pooling: "max", ...plain })]).toEqual([5, 4]);
  });

  it("averages in double precision, where float32 sums would lose the small values", () => {
    const values = Float32Array.of(2 ** 25, 1, 1, 1, 1, -(2 ** 25));
    expect([...sentenceVector(values, 1, { pooling: "mean", ...plain })]).toEqual([Math.fround(4 / 6)]);
  });

  it("keeps a zero vector zero instead of dividing by its length", () => {
    for (const kind of ["mean", "cls", "max", "last"] as const) {
      const vector = sentenceVector(new Float32Array(6), 3, { pooling: kind, normalize: true });
      expect([...vector]).toEqual([0, 0, 0]);
    }
  });

  it("normalizes to length 1 and keeps the direction", () => {
    fc.assert(
      fc.property(hiddenStates, pooling, ({ width, hiddenStates }, kind) => {
        const pooled = sentenceVector(hiddenStates, width, { pooling: kind, normalize: false });
        const unit = sentenceVector(hiddenStates, width, { pooling: kind, normalize: true });
        expect(unit).toHaveLength(width);
        fc.pre(norm(pooled) > 1e-9);
        expect(Math.abs(norm(unit) - 1)).toBeLessThan(FLOAT32_TOLERANCE);
        expect(cosine(unit, pooled)).toBeGreaterThan(1 - FLOAT32_TOLERANCE);
      }),
    );
  });

  it("returns the hidden state of a single token for every pooling", () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 16 }), pooling, (values, kind) => {
        const hiddenState = Float32Array.from(values);
        // Adding 0 turns -0 into 0, as the sum in mean pooling does.
        const expected = hiddenState.map((x) => x + 0);
        expect(
          sentenceVector(hiddenState, hiddenState.length, { pooling: kind, normalize: false }).map((x) => x + 0),
        ).toEqual(expected);
      }),
    );
  });

  it("neither changes the hidden states nor shares their memory", () => {
    fc.assert(
      fc.property(hiddenStates, pooling, fc.boolean(), ({ width, hiddenStates }, kind, normalize) => {
        const before = hiddenStates.slice();
        sentenceVector(hiddenStates, width, { pooling: kind, normalize }).fill(7);
        expect(hiddenStates).toEqual(before);
      }),
    );
  });
});

describe("cosine", () => {
  it("is 1, 0 and -1 for the same, a perpendicular and the opposite direction", () => {
    const a = Float32Array.of(3, 4);
    expect(cosine(a, Float32Array.of(6, 8))).toBe(1);
    expect(cosine(a, Float32Array.of(-4, 3))).toBe(0);
    expect(cosine(a, Float32Array.of(-3, -4))).toBe(-1);
  });

  it("is 0 with a zero vector and NaN with a NaN", () => {
    expect(cosine(Float32Array.of(0, 0), Float32Array.of(1, 2))).toBe(0);
    expect(cosine(Float32Array.of(1, Number.NaN), Float32Array.of(1, 2))).toBeNaN();
  });

  it("is symmetric, within [-1, 1], and independent of scale", () => {
    fc.assert(
      fc.property(vectorPair, fc.constantFrom(0.25, 2, 1024), ([a, b], scale) => {
        const ab = cosine(a, b);
        expect(cosine(b, a)).toBe(ab);
        expect(Math.abs(ab)).toBeLessThanOrEqual(1 + Number.EPSILON * a.length);
        fc.pre(norm(a) > 1e-6 && norm(b) > 1e-6);
        expect(
          Math.abs(
            cosine(
              a.map((x) => x * scale),
              b,
            ) - ab,
          ),
        ).toBeLessThan(FLOAT32_TOLERANCE);
      }),
    );
  });
});
