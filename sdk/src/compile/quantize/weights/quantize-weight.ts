import { release } from "../../files/stored-file.ts";
import { type Tensor, toFloat32 } from "../../graph/tensor.ts";
import { gramBlocks, type ScaledStatistics, sumsOfSquares } from "../calibration/activation-statistics.ts";
import { gptqFactors, type RoundInput, roundInOrder } from "./gptq.ts";
import { type IntegerRange, minErrorParameters, minMaxParameters, quantizeNumber } from "./quantization-parameters.ts";

/**
 * A quantized weight matrix: weight[i, o] ≈ scales[o, b] · (values[i, o] − zeroPoints[o, b]), where b is the block of
 * input i.
 */
export interface QuantizedWeight {
  /** [in, out] */
  readonly values: Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  /** [out, blocks] */
  readonly scales: Float32Array;
  /** [out, blocks] */
  readonly zeroPoints: Int32Array;
  /**
   * [out]. Rounding the weights lowers the mean of each output by this number, so add it to the bias. Undefined without
   * statistics, or if the rounding options do not request it.
   */
  readonly biasCorrection: Float32Array | undefined;
}

export interface WeightPrecision extends IntegerRange {
  /** Block size: neighbouring inputs that share a scale. Default: all inputs. */
  readonly block?: number;
}

/** Ways to reduce the rounding error. */
export interface RoundingOptions {
  /** Whether to choose scales that minimize the squared error. They may clip the largest weights. */
  readonly clipping: boolean;
  /** Whether to correct each weight for the rounding errors of the previous weights (GPTQ). Needs statistics. */
  readonly gptq: boolean;
  /** Whether to compute `biasCorrection`. Needs statistics. */
  readonly biasCorrection: boolean;
}

export const ROUND_TO_NEAREST: RoundingOptions = { clipping: false, gptq: false, biasCorrection: false };

/**
 * Quantizes a weight matrix.
 *
 * @param weight float32 [in, out]
 * @param statistics activation statistics of the layer; undefined without calibration
 */
export function quantizeWeight(
  weight: Tensor,
  precision: WeightPrecision,
  rounding: RoundingOptions,
  statistics: ScaledStatistics | undefined,
): QuantizedWeight {
  const [inputs = 0, outputs = 0] = weight.shape;
  const { min, max, symmetric, block = inputs } = precision;
  // Copies the range without `block`, because loops over millions of weights are fast only if all ranges have the same properties.
  const integers: IntegerRange = { min, max, symmetric };
  const weights = toFloat32(weight);
  const blocks = Math.ceil(inputs / block);
  const values = new (min < 0 ? Int8Array : Uint8Array)(weights.length);
  const scales = new Float32Array(outputs * blocks);
  const zeroPoints = new Int32Array(outputs * blocks);
  const importance = statistics && sumsOfSquares(statistics);
  const corrected = rounding.gptq ? statistics : undefined;

  const channel = new Float32Array(inputs);
  for (let output = 0; output < outputs; output++) {
    for (let i = 0; i < inputs; i++) channel[i] = weights[i * outputs + output] as number;
    for (let b = 0; b < blocks; b++) {
      const part = channel.subarray(b * block, (b + 1) * block);
      const parameters = rounding.clipping
        ? minErrorParameters(part, integers, importance?.subarray(b * block, (b + 1) * block))
        : minMaxParameters(part, integers);
      scales[output * blocks + b] = parameters.scale;
      zeroPoints[output * blocks + b] = parameters.zeroPoint;
      if (corrected) continue;
      for (let i = 0; i < part.length; i++) {
        values[(b * block + i) * outputs + output] = quantizeNumber(part[i] as number, parameters, integers);
      }
    }
  }

  const errorOf = (i: number, output: number): number => {
    const at = i * outputs + output;
    const group = output * blocks + Math.floor(i / block);
    const value = (values[at] as number) - (zeroPoints[group] as number);
    return Math.fround((weights[at] as number) - (scales[group] as number) * value);
  };
  const round: RoundInput = (i, corrections, errors) => {
    const b = Math.floor(i / block);
    for (let output = 0; output < outputs; output++) {
      const at = i * outputs + output;
      const scale = scales[output * blocks + b] as number;
      const zeroPoint = zeroPoints[output * blocks + b] as number;
      const weight = weights[at] as number;
      const value = Math.min(
        Math.max(Math.round((weight + (corrections[output] as number)) / scale) + zeroPoint, min),
        max,
      );
      values[at] = value;
      errors[output] = Math.fround(weight - scale * (value - zeroPoint));
    }
  };
  if (corrected) {
    for (const gramBlock of gramBlocks(inputs)) {
      const gptq = gptqFactors(corrected, gramBlock);
      roundInOrder(gptq, outputs, round);
      release(gptq.factors);
    }
  }

  const meanError = ({ sum, tokens, factors }: ScaledStatistics, output: number): number => {
    let total = 0;
    for (let i = 0; i < inputs; i++) total += errorOf(i, output) * (factors?.[i] ?? 1) * ((sum[i] as number) / tokens);
    return total;
  };
  const biasCorrection =
    statistics && rounding.biasCorrection
      ? Float32Array.from({ length: outputs }, (_, output) => meanError(statistics, output))
      : undefined;
  return { values, scales, zeroPoints, biasCorrection };
}
