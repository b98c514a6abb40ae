import { release } from "../../files/large-buffers.ts";
import { type Tensor, toFloat32 } from "../../graph/tensor.ts";
import { type ScaledStatistics, sumsOfSquares } from "../calibration/activation-statistics.ts";
import { gptqFactors, roundInOrder } from "./gptq.ts";
import {
  type IntegerRange,
  minErrorParameters,
  minMaxParameters,
  type QuantizationParameters,
  quantizeNumber,
} from "./quantization-parameters.ts";

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
  // All callers' ranges become objects of the same shape, which keeps the loops over millions of weights fast.
  const integers: IntegerRange = { min, max, symmetric };
  const weights = toFloat32(weight);
  const blocks = Math.ceil(inputs / block);
  const values = new (min < 0 ? Int8Array : Uint8Array)(weights.length);
  const scales = new Float32Array(outputs * blocks);
  const zeroPoints = new Int32Array(outputs * blocks);
  const importance = statistics && sumsOfSquares(statistics);
  const gptq = statistics && rounding.gptq ? gptqFactors(statistics) : undefined;

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
      if (gptq) continue;
      for (let i = 0; i < part.length; i++) {
        values[(b * block + i) * outputs + output] = quantizeNumber(part[i] as number, parameters, integers);
      }
    }
  }

  const parametersOf = (i: number, output: number): QuantizationParameters => {
    const group = output * blocks + Math.floor(i / block);
    return { scale: scales[group] as number, zeroPoint: zeroPoints[group] as number };
  };
  const errorOf = (i: number, output: number): number => {
    const at = i * outputs + output;
    const { scale, zeroPoint } = parametersOf(i, output);
    return Math.fround((weights[at] as number) - scale * ((values[at] as number) - zeroPoint));
  };
  const round = (i: number, output: number, correction: number): number => {
    const at = i * outputs + output;
    values[at] = quantizeNumber((weights[at] as number) + correction, parametersOf(i, output), integers);
    return errorOf(i, output);
  };
  if (gptq) {
    roundInOrder(gptq, outputs, round);
    release(gptq.factors);
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
