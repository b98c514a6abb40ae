import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { assertWithin, FP16_LIMIT, FP32_LIMIT, INT8_LIMIT, type Limit } from "./limits.ts";
import { parity } from "./parity.ts";
import { probeTexts } from "./probe-texts.ts";

const vector = (...values: number[]) => Float32Array.from(values);

const vectors = fc.integer({ min: 1, max: 4 }).chain((size) =>
  fc.array(
    fc
      .array(fc.float({ noNaN: true, min: -10, max: 10 }), { minLength: size, maxLength: size })
      .filter((values) => values.some((value) => Math.abs(value) > 0.01))
      .map((values) => vector(...values)),
    { minLength: 1, maxLength: 5 },
  ),
);

/** Rounding error of a cosine in float64. */
const ROUNDING = 1e-12;

const limits = { FP32_LIMIT, FP16_LIMIT, INT8_LIMIT };

describe("parity", () => {
  it("is perfect between vectors and themselves, scaled or not", () => {
    fc.assert(
      fc.property(vectors, (reference) => {
        const measured = parity(reference, reference);
        expect(measured.maxAbsDiff).toBe(0);
        expect(measured.cases).toBe(reference.length);
        const scaled = parity(
          reference,
          reference.map((values) => values.map((value) => value * 2)),
        );
        for (const { meanCosine, minCosine } of [measured, scaled]) {
          expect(Math.abs(1 - meanCosine)).toBeLessThan(ROUNDING);
          expect(Math.abs(1 - minCosine)).toBeLessThan(ROUNDING);
        }
      }),
      seeded(200),
    );
  });

  it("returns the mean cosine, the worst cosine and the largest difference of any number", () => {
    const reference = [vector(1, 0), vector(3, 4)];
    const measured = parity(reference, [vector(1, 0), vector(4, 3)]);
    expect(measured).toEqual({ meanCosine: (1 + 24 / 25) / 2, minCosine: 24 / 25, maxAbsDiff: 1, cases: 2 });
  });

  it("has only NaN cosines if any number is NaN or infinite", () => {
    const broken = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    fc.assert(
      fc.property(vectors, broken, fc.nat(), fc.nat(), fc.boolean(), (reference, value, row, column, inReference) => {
        const copy = reference.map((values) => values.slice());
        const target = copy[row % copy.length] as Float32Array;
        target[column % target.length] = value;
        const { meanCosine, minCosine } = inReference ? parity(copy, reference) : parity(reference, copy);
        expect({ meanCosine, minCosine }).toEqual({ meanCosine: Number.NaN, minCosine: Number.NaN });
      }),
      seeded(300),
    );
  });

  it("compares single logits by their differences between texts, not by their signs", () => {
    const column = (...logits: number[]) => logits.map((logit) => vector(logit));
    const reference = column(11, 12, 14);
    expect(parity(reference, reference, { are: "logits" })).toMatchObject({
      meanCosine: 1,
      minCosine: 1,
      maxAbsDiff: 0,
    });
    expect(parity(reference, column(14, 12, 11), { are: "logits" }).minCosine).toBeLessThan(0);
    expect(parity(reference, column(12, 12, 12), { are: "logits" }).minCosine).toBeLessThan(0.5);
    expect(parity(reference, column(11, 12, Number.NaN), { are: "logits" }).minCosine).toBeNaN();
  });

  it("adds the share of texts that keep their label, for classifiers", () => {
    const reference = [vector(1, 2), vector(2, 1), vector(0, 3), vector(3, 0)];
    const other = [vector(1, 2), vector(1, 2), vector(0, 3), vector(3, 0)];
    expect(parity(reference, other, { are: "logits" }).top1).toBe(0.75);
    expect(parity(reference, other)).not.toHaveProperty("top1");
  });

  it("gives a zero vector a cosine of 0, and a vector with a missing number NaN", () => {
    expect(parity([vector(1, 0)], [vector(0, 0)])).toMatchObject({ minCosine: 0, maxAbsDiff: 1 });
    expect(parity([vector(1, 2)], [vector(1)]).minCosine).toBeNaN();
  });
});

describe("assertWithin", () => {
  const measured = (meanCosine: number, minCosine: number) => ({ meanCosine, minCosine, maxAbsDiff: 0, cases: 3 });
  const codeOf = (mean: number, min: number, limit: Limit = INT8_LIMIT) =>
    refusal(() => assertWithin("It", { parity: measured(mean, min) }, limit));

  it.each(Object.entries(limits))("accepts values equal to %s, and no lower ones", (_, limit) => {
    expect(codeOf(limit.meanCosine, limit.minCosine, limit)).toBe("accepted");
    expect(codeOf(limit.meanCosine - 1e-9, limit.minCosine, limit)).toBe("accuracy_gate");
    expect(codeOf(limit.meanCosine, limit.minCosine - 1e-9, limit)).toBe("accuracy_gate");
  });

  it.each(Object.entries(limits))("refuses NaN and a comparison of no texts, for %s", (_, limit) => {
    expect(codeOf(Number.NaN, 1, limit)).toBe("accuracy_gate");
    expect(codeOf(1, Number.NaN, limit)).toBe("accuracy_gate");
    expect(refusal(() => assertWithin("It", { parity: parity([], []) }, limit))).toBe("accuracy_gate");
  });

  it("has higher limits for higher precisions", () => {
    for (const figure of ["meanCosine", "minCosine"] as const) {
      expect(FP32_LIMIT[figure]).toBeGreaterThan(FP16_LIMIT[figure]);
      expect(FP16_LIMIT[figure]).toBeGreaterThan(INT8_LIMIT[figure]);
    }
  });

  it("names the model, the measured values and the limits, and says what to do", () => {
    expect(() => assertWithin("The fused graph", { parity: measured(0.95, Number.NaN) }, INT8_LIMIT)).toThrow(
      expect.objectContaining({
        message:
          "The fused graph differs too much from the float32 model: mean cosine 0.95000 (must be at least 0.99), " +
          "worst cosine NaN (must be at least 0.965) over 3 texts.",
        hint: expect.stringContaining("bug in the fusion"),
      }),
    );
  });
});

describe("probe texts", () => {
  it("are all different, and have from one character to more than a hundred words", () => {
    expect(new Set(probeTexts).size).toBe(probeTexts.length);
    const words = probeTexts.map((text) => text.split(" ").length);
    expect(Math.min(...probeTexts.map((text) => text.length))).toBe(1);
    expect(Math.max(...words)).toBeGreaterThan(100);
  });
});

it("takes the mean over the rows of a text, and the worst text", () => {
  const good = Float32Array.of(1, 0, 0, 1, 1, 0, 0, 1);
  const oneRowTurned = Float32Array.of(1, 0, 0, 1, 1, 0, 1, 0);
  const { meanCosine, minCosine, cases } = parity([good, good], [good, oneRowTurned], { are: "vectors", width: 2 });
  expect({ meanCosine, minCosine, cases }).toEqual({ meanCosine: 0.875, minCosine: 0.75, cases: 2 });
});
