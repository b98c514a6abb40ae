import { describe, expect, it } from "vitest";
import { type ActivationFunction, fastGelu, gelu, relu, sigmoid, swish, tanh } from "./activation.ts";
import { fround } from "./float32.ts";

/** Maximum error of swish, relative to max(1, |x|): three roundings. */
const SMOOTH = 2 ** -22;
/** Maximum errors that activation.ts documents. Measured: 8.6 · 10⁻⁵ and 7 · 10⁻⁵. */
const [GELU, FAST_GELU] = [9e-5, 7e-5];
/** Maximum errors. Measured: 0.89 · 10⁻⁷ and 1.77 · 10⁻⁷. */
const [SIGMOID, TANH] = [2 ** -23, 2 ** -22];

/**
 * Computes the complementary error function in float64. For z < 3 it uses a series. For larger z, where the series
 * would lose all digits, it uses a continued fraction.
 */
function erfc(z: number): number {
  if (z < 0) return 2 - erfc(-z);
  if (z < 3) {
    let [total, term] = [0, z];
    for (let n = 0; n < 100; n++) {
      total += term / (2 * n + 1);
      term *= (-z * z) / (n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * total;
  }
  let fraction = 0;
  for (let k = 80; k >= 1; k--) fraction = k / 2 / (z + fraction);
  return Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction);
}

const logistic = (x: number) => 1 / (1 + Math.exp(-x));
const [INFINITY, NAN] = [Number.POSITIVE_INFINITY, Number.NaN];

interface Case {
  readonly found: ActivationFunction;
  readonly wanted: (x: number) => number;
  readonly bound: (x: number) => number;
  /** Results that the function must return for ∞ and −∞. */
  readonly ends: readonly [number, number];
}
const relative = (x: number) => SMOOTH * Math.max(1, Math.abs(x));
// exp limits its operand to 88, so sigmoid is at least 6 · 10⁻³⁹ and never 0.
const minSigmoid = sigmoid(-100);
const cases: Record<string, Case> = {
  gelu: { found: gelu, wanted: (x) => (x * erfc(-x / Math.SQRT2)) / 2, bound: () => GELU, ends: [INFINITY, 0] },
  fastGelu: {
    found: fastGelu,
    wanted: (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2,
    bound: () => FAST_GELU,
    ends: [INFINITY, 0],
  },
  SiLU: { found: swish(1), wanted: (x) => x * logistic(x), bound: relative, ends: [INFINITY, -INFINITY] },
  "quick GELU": {
    found: swish(1.702),
    wanted: (x) => x * logistic(1.702 * x),
    bound: relative,
    ends: [INFINITY, -INFINITY],
  },
  sigmoid: { found: sigmoid, wanted: logistic, bound: () => SIGMOID, ends: [1, minSigmoid] },
  tanh: { found: tanh, wanted: Math.tanh, bound: () => TANH, ends: [1, -1] },
  relu: { found: relu, wanted: (x) => Math.max(0, x), bound: () => 0, ends: [INFINITY, 0] },
};

describe.each(Object.entries(cases))("%s", (_, { found, wanted, bound, ends }) => {
  it.each([1e-6, 1, 12, 100, 1e4])("computes its formula, up to ±%d", (reach) => {
    const steps = 20_000;
    for (let i = 0; i <= steps; i++) {
      const x = fround(reach * ((2 * i) / steps - 1));
      const difference = Math.abs(found(x) - wanted(x));
      if (!(difference <= bound(x))) expect.fail(`${found(x)} instead of ${wanted(x)} at ${x}`);
    }
  });

  it("returns a float32", () => {
    for (let x = -9; x < 9; x += 0.37) expect(found(fround(x))).toBe(fround(found(fround(x))));
  });

  it("keeps NaN, and has the expected values at ±∞", () => {
    expect(found(NAN)).toBeNaN();
    expect([found(INFINITY), found(-INFINITY)]).toEqual(ends);
  });
});

describe.each([
  ["gelu", gelu, 4.1599955558776855],
  ["fastGelu", fastGelu, 4.0399980545043945],
] as const)("%s of a large number", (_, activation, limit) => {
  it("is the number itself, or zero if the number is negative", () => {
    for (const x of [limit, 20, 1e5, 1e19, 1e38].map(fround)) {
      expect(activation(x)).toBe(x);
      expect(activation(-x) + 0).toBe(0);
    }
  });
});
