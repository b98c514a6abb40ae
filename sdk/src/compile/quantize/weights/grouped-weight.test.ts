import { describe, expect, it } from "vitest";
import { correlatedTokens, damped, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { randomMatrix } from "#test/fixtures/quantized-layer.ts";
import { weightGroups } from "../../../runtime/engine/wasm/ops/linear.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { packWeight } from "../../lower/pack-weight.ts";
import { type ActivationStatistics, gramBlocks } from "../calibration/activation-statistics.ts";
import { type QuantizedWeight, quantizeWeight, ROUND_TO_NEAREST, type WeightPrecision } from "./quantize-weight.ts";

const SEVEN_BITS: WeightPrecision = { min: 0, max: 127, symmetric: false };
const [INPUTS, OUTPUTS, TOKENS] = [96, 9, 300];
const clipping = { ...ROUND_TO_NEAREST, clipping: true };
const gptq = { ...clipping, gptq: true };

const matrixOf = (seed: number, inputs = INPUTS): Tensor =>
  tensor("float32", [inputs, OUTPUTS], randomMatrix(inputs, OUTPUTS, seed));

/** Returns the values as [out, in]. */
const transposed = ({ values }: QuantizedWeight): Tensor => {
  const inputs = values.length / OUTPUTS;
  const rows = Uint8Array.from(values, (_, at) => values[(at % inputs) * OUTPUTS + Math.floor(at / inputs)] as number);
  return tensor("uint8", [OUTPUTS, inputs], rows);
};

/** Σ over all outputs of (w − q)ᵀ H (w − q), where H is the damped Gram matrix. */
function errorOf(weight: Tensor, { values, scales, zeroPoints }: QuantizedWeight, h: (i: number, j: number) => number) {
  const weights = toFloat32(weight);
  let total = 0;
  for (let o = 0; o < OUTPUTS; o++) {
    const lost = Array.from({ length: INPUTS }, (_, i) => {
      const at = i * OUTPUTS + o;
      return (weights[at] as number) - (scales[o] as number) * ((values[at] as number) - (zeroPoints[o] as number));
    });
    total += lost.reduce((sum, a, i) => lost.reduce((row, b, j) => row + a * h(i, j) * b, sum), 0);
  }
  return total;
}

/** Maximum error with GPTQ, as a share of the error of rounding to nearest. Measured: 0.024 in groups of 16, and 0.026 of 32. */
const MAX_SHARE = 0.05;
/** Rounding error of sums in float32. */
const MEAN_ROUNDING = 1e-5;

/** Maximum share of weights for which another point would be better. Measured: 0. */
const MAX_BETTER = 0.01;

const identity = (i: number, j: number) => (i === j ? 1 : 0);

describe.each(weightGroups)("quantizeWeight, in groups of %i", (group) => {
  const precision: WeightPrecision = { ...SEVEN_BITS, group };

  it.each([
    ["without statistics", clipping, undefined],
    ["without clipping", ROUND_TO_NEAREST, undefined],
    ["with GPTQ", gptq, statisticsOf(correlatedTokens(INPUTS, TOKENS, 1))],
    ["with fewer tokens than inputs", gptq, statisticsOf(correlatedTokens(INPUTS, 3, 2))],
    ["with inputs that are always zero", gptq, statisticsOf([new Float32Array(INPUTS)])],
    ["with GPTQ off", clipping, statisticsOf(correlatedTokens(INPUTS, TOKENS, 3))],
  ] as const)("rounds all weights of a group to 16 points, %s", (_, rounding, statistics) => {
    for (let seed = 1; seed <= 3; seed++) {
      const weight = matrixOf(seed);
      const quantized = quantizeWeight(weight, precision, rounding, statistics);
      expect(Math.max(...quantized.values)).toBeLessThanOrEqual(127);
      // Packing refuses weights that are not on points.
      expect(packWeight(transposed(quantized), group).data.length).toBeGreaterThan(0);
      // Scales and zero points are those of weights of 7 bits.
      const wide = quantizeWeight(weight, SEVEN_BITS, rounding, statistics);
      expect([quantized.scales, quantized.zeroPoints]).toEqual([wide.scales, wide.zeroPoints]);
    }
  });

  it("is exact for weights that lie on points of the grid of 7 bits", () => {
    const values = Float32Array.from({ length: INPUTS * OUTPUTS }, (_, at) => {
      const [input, output] = [Math.floor(at / OUTPUTS), at % OUTPUTS];
      const [block, within] = [Math.floor(input / group), input % group];
      const code = within < 16 ? within : (7 * within + output) % 16;
      // The first two groups have the smallest and the largest number, so that the scale is exact.
      return block === 0 ? 8 * code - 64 : block === 1 ? 63 - 8 * code : 3 * code + block - output;
    });
    const quantized = quantizeWeight(
      tensor("float32", [INPUTS, OUTPUTS], values),
      precision,
      ROUND_TO_NEAREST,
      undefined,
    );
    expect(errorOf(tensor("float32", [INPUTS, OUTPUTS], values), quantized, identity)).toBe(0);
  });

  it("has a larger error than 7 bits, and a far smaller one with statistics than without", () => {
    let [wide, nearest, corrected] = [0, 0, 0];
    for (let seed = 1; seed <= 3; seed++) {
      const weight = matrixOf(seed);
      const statistics = statisticsOf(correlatedTokens(INPUTS, TOKENS, seed));
      const h = damped(statistics);
      wide += errorOf(weight, quantizeWeight(weight, SEVEN_BITS, gptq, statistics), h);
      nearest += errorOf(weight, quantizeWeight(weight, precision, clipping, statistics), h);
      corrected += errorOf(weight, quantizeWeight(weight, precision, gptq, statistics), h);
    }
    expect(corrected).toBeGreaterThan(wide);
    expect(corrected).toBeLessThan(MAX_SHARE * nearest);
  });

  it("leaves hardly a weight whose error with all others is smaller at another point of its group", () => {
    let [better, all] = [0, 0];
    for (let seed = 1; seed <= 3; seed++) {
      const weight = matrixOf(seed);
      const statistics = statisticsOf(correlatedTokens(INPUTS, TOKENS, seed));
      const h = damped(statistics);
      const { values, scales, zeroPoints } = quantizeWeight(weight, precision, gptq, statistics);
      const weights = toFloat32(weight);
      for (let o = 0; o < OUTPUTS; o++) {
        const row = Array.from({ length: INPUTS }, (_, i) => values[i * OUTPUTS + o] as number);
        const wanted = row.map(
          (_, i) => (weights[i * OUTPUTS + o] as number) / (scales[o] as number) + (zeroPoints[o] as number),
        );
        for (let k = 0; k < INPUTS; k++) {
          const slope = row.reduce((sum, value, i) => sum + h(k, i) * ((wanted[i] as number) - value), 0);
          const best = (row[k] as number) + slope / h(k, k);
          const others = row.slice(k - (k % group), k - (k % group) + group);
          const distance = Math.abs((row[k] as number) - best) * 0.999;
          if (others.some((value) => Math.abs(value - best) < distance)) better++;
          all++;
        }
      }
    }
    expect(better / all).toBeLessThan(MAX_BETTER);
  });

  it("keeps the mean of every output with the bias correction", () => {
    const [weight, x] = [matrixOf(4), correlatedTokens(INPUTS, TOKENS, 4)];
    const { values, scales, zeroPoints, biasCorrection } = quantizeWeight(
      weight,
      precision,
      { ...gptq, biasCorrection: true },
      statisticsOf(x),
    );
    const weights = toFloat32(weight);
    biasCorrection?.forEach((correction, o) => {
      const mean = x.reduce((sum, token) => {
        const errors = token.map((value, i) => {
          const at = i * OUTPUTS + o;
          const restored = (scales[o] as number) * ((values[at] as number) - (zeroPoints[o] as number));
          return value * ((weights[at] as number) - restored);
        });
        return sum + errors.reduce((total, error) => total + error, 0) / TOKENS;
      }, 0);
      expect(Math.abs(mean - correction)).toBeLessThan(MEAN_ROUNDING);
    });
    expect(biasCorrection?.some((correction) => Math.abs(correction) > 100 * MEAN_ROUNDING)).toBe(true);
  });

  it("refuses inputs that groups do not divide", () => {
    for (const inputs of [group - 8, group + 8, 2.5 * group]) {
      expect(() => quantizeWeight(matrixOf(1, inputs), precision, clipping, undefined)).toThrow(RangeError);
    }
  });
});

describe("quantizeWeight in groups, with a Gram matrix of several blocks", () => {
  it("corrects the weights of each block for the errors of this block only", () => {
    const inputs = 1600;
    const blocks = gramBlocks(inputs);
    const start = blocks[1]?.start as number;
    expect(blocks).toHaveLength(2);
    expect(start % 32).toBe(0);
    const weights = randomMatrix(inputs, OUTPUTS, 8);
    // The largest and the smallest weights are in both blocks, so that a block alone has the same scales.
    for (const from of [0, start]) weights.fill(30, from * OUTPUTS, (from + 1) * OUTPUTS);
    for (const from of [1, start + 1]) weights.fill(-30, from * OUTPUTS, (from + 1) * OUTPUTS);
    const whole = statisticsOf(correlatedTokens(inputs, 5, 8));
    const values = (from: number, to: number, statistics: ActivationStatistics) => {
      const rows = tensor("float32", [to - from, OUTPUTS], weights.slice(from * OUTPUTS, to * OUTPUTS));
      const rounding = { ...ROUND_TO_NEAREST, gptq: true };
      return [...quantizeWeight(rows, { ...SEVEN_BITS, group: 32 }, rounding, statistics).values];
    };
    const alone = blocks.flatMap(({ start: from, width, offset }) => {
      const [sum, gram] = [whole.sum.slice(from, from + width), whole.gram.slice(offset, offset + width * width)];
      return values(from, from + width, { ...whole, width, sum, gram });
    });
    expect(values(0, inputs, whole)).toEqual(alone);
  });
});
