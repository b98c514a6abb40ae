import { release } from "../../files/large-buffers.ts";
import { type Tensor, toFloat32 } from "../../graph/tensor.ts";
import { type ActivationStatistics, sumsOfSquares } from "../calibration/activation-statistics.ts";
import { type GptqFactors, gptqFactors } from "./gptq.ts";
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
   * [out]: how much rounding lowers the mean of each output. Add this to the bias. Undefined if it was not requested.
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
 * Quantizes a weight matrix, one output channel after the other.
 *
 * @param weight float32 [in, out]
 * @param statistics activation statistics of the layer; undefined without calibration
 */
export function quantizeWeight(
  weight: Tensor,
  precision: WeightPrecision,
  rounding: RoundingOptions,
  statistics: ActivationStatistics | undefined,
): QuantizedWeight {
  const [inputs = 0, outputs = 0] = weight.shape;
  const { block = inputs } = precision;
  const weights = toFloat32(weight);
  const blocks = Math.ceil(inputs / block);
  const values = new (precision.min < 0 ? Int8Array : Uint8Array)(weights.length);
  const scales = new Float32Array(outputs * blocks);
  const zeroPoints = new Int32Array(outputs * blocks);
  const biasCorrection = statistics && rounding.biasCorrection ? new Float32Array(outputs) : undefined;
  const importance = statistics && sumsOfSquares(statistics);
  const gptq = statistics && rounding.gptq ? gptqFactors(statistics) : undefined;

  const channel = new Float32Array(inputs);
  const errors = new Float32Array(inputs);
  for (let output = 0; output < outputs; output++) {
    for (let i = 0; i < inputs; i++) channel[i] = weights[i * outputs + output] as number;
    const parametersByBlock = Array.from({ length: blocks }, (_, b): QuantizationParameters => {
      const part = channel.subarray(b * block, (b + 1) * block);
      const parameters = rounding.clipping
        ? minErrorParameters(part, precision, importance?.subarray(b * block, (b + 1) * block))
        : minMaxParameters(part, precision);
      scales[output * blocks + b] = parameters.scale;
      zeroPoints[output * blocks + b] = parameters.zeroPoint;
      return parameters;
    });
    /** Rounds one weight and returns its error. */
    const round = (i: number, weight: number): number => {
      const parameters = parametersByBlock[Math.floor(i / block)] as QuantizationParameters;
      const integer = quantizeNumber(weight, parameters, precision);
      values[i * outputs + output] = integer;
      return (channel[i] as number) - parameters.scale * (integer - parameters.zeroPoint);
    };
    if (gptq) roundInOrder(channel, errors, gptq, round);
    else for (let i = 0; i < inputs; i++) errors[i] = round(i, channel[i] as number);
    if (biasCorrection && statistics) {
      biasCorrection[output] = errors.reduce((sum, error, i) => sum + error * meanOf(statistics, i), 0);
    }
  }
  if (gptq) release(gptq.factors);
  return { values, scales, zeroPoints, biasCorrection };
}

const meanOf = ({ sum, tokens }: ActivationStatistics, i: number): number => (sum[i] as number) / tokens;

/**
 * Rounds a channel's weights in GPTQ's order. Each weight is first corrected for the rounding errors of the previous
 * weights.
 */
function roundInOrder(
  channel: Float32Array,
  errors: Float32Array,
  { order, factors }: GptqFactors,
  round: (i: number, weight: number) => number,
): void {
  const inOrder = new Float32Array(channel.length);
  for (let k = 0; k < channel.length; k++) {
    const i = order[k] as number;
    const start = k * channel.length;
    let correction = 0;
    for (let j = 0; j < k; j++) correction += (factors[start + j] as number) * (inOrder[j] as number);
    const error = round(i, (channel[i] as number) + correction);
    inOrder[k] = error;
    errors[i] = error;
  }
}
