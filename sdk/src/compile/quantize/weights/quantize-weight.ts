import type { WeightGroup } from "../../../runtime/engine/wasm/ops/linear.ts";
import { release } from "../../files/stored-file.ts";
import { type Tensor, toFloat32 } from "../../graph/tensor.ts";
import {
  type GramBlock,
  gramBlocks,
  type ScaledStatistics,
  sumsOfSquares,
} from "../calibration/activation-statistics.ts";
import { dampedGram, descend } from "./coordinate-descent.ts";
import { bestPoints, type FourBitPoints, nearestPoint } from "./four-bit-points.ts";
import { gptqFactors, type RoundInput, roundInOrder } from "./gptq.ts";
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
  /** Weights of 4 bits in the grid of 7 bits, in groups of this size. Not together with `block`. */
  readonly group?: WeightGroup;
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
  const { min, max, symmetric, block = inputs, group } = precision;
  // Copies the range without `block`, because loops over millions of weights are fast only if all ranges have the same properties.
  const integers: IntegerRange = { min, max, symmetric };
  const weights = toFloat32(weight);
  const blocks = Math.ceil(inputs / block);
  const values = new (min < 0 ? Int8Array : Uint8Array)(weights.length);
  const scales = new Float32Array(outputs * blocks);
  const zeroPoints = new Int32Array(outputs * blocks);
  const importance = statistics && sumsOfSquares(statistics);
  const corrected = rounding.gptq ? statistics : undefined;
  const points = group && pointsOf(group, inputs, outputs);

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
      if (points) choosePoints(points, output, channel, parameters, importance);
      if (corrected) continue;
      for (let i = 0; i < part.length; i++) {
        const { scale, zeroPoint } = parameters;
        const at = b * block + i;
        values[at * outputs + output] = points
          ? pointNearest(points, output, at, (part[i] as number) / scale + zeroPoint)
          : quantizeNumber(part[i] as number, parameters, integers);
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
      const wanted = (weight + (corrections[output] as number)) / scale;
      const value = points
        ? pointNearest(points, output, i, wanted + zeroPoint)
        : Math.min(Math.max(Math.round(wanted) + zeroPoint, min), max);
      values[at] = value;
      errors[output] = Math.fround(weight - scale * (value - zeroPoint));
    }
  };
  function roundAgain(gramBlock: GramBlock, observed: ScaledStatistics): void {
    const { start, width } = gramBlock;
    const gram = dampedGram(observed, gramBlock);
    const [errors, rounded] = [new Float64Array(width), new Float64Array(width)];
    for (let output = 0; output < outputs; output++) {
      const [scale, zeroPoint] = [scales[output] as number, zeroPoints[output] as number];
      for (let k = 0; k < width; k++) {
        const at = (start + k) * outputs + output;
        rounded[k] = values[at] as number;
        errors[k] = (weights[at] as number) / scale + zeroPoint - (values[at] as number);
      }
      descend(gram, errors, rounded, (number, k) => pointNearest(points as FourBitPoints, output, start + k, number));
      for (let k = 0; k < width; k++) values[(start + k) * outputs + output] = rounded[k] as number;
    }
  }
  if (corrected) {
    for (const gramBlock of gramBlocks(inputs)) {
      const gptq = gptqFactors(corrected, gramBlock);
      roundInOrder(gptq, outputs, round);
      release(gptq.factors);
      if (points) roundAgain(gramBlock, corrected);
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

/**
 * Makes room for the points of a weight matrix.
 *
 * @throws RangeError if groups do not divide the inputs
 */
function pointsOf(group: WeightGroup, inputs: number, outputs: number): FourBitPoints {
  const groups = inputs / group;
  if (!Number.isInteger(groups)) throw new RangeError(`${inputs} inputs cannot be divided into groups of ${group}.`);
  return { group, groups, bases: new Uint8Array(outputs * groups), multipliers: new Uint8Array(outputs * groups) };
}

/** Chooses the points of an output's weights. */
function choosePoints(
  { group, groups, bases, multipliers }: FourBitPoints,
  output: number,
  channel: Float32Array,
  { scale, zeroPoint }: QuantizationParameters,
  importance: Float64Array | undefined,
): void {
  const equal = new Float64Array(group).fill(1);
  for (let g = 0; g < groups; g++) {
    const numbers = Float64Array.from(
      channel.subarray(g * group, (g + 1) * group),
      (weight) => weight / scale + zeroPoint,
    );
    const at = output * groups + g;
    const weighted = importance?.subarray(g * group, (g + 1) * group) ?? equal;
    [bases[at], multipliers[at]] = bestPoints(numbers, weighted);
  }
}

function pointNearest(
  { group, groups, bases, multipliers }: FourBitPoints,
  output: number,
  input: number,
  number: number,
) {
  const at = output * groups + Math.floor(input / group);
  return nearestPoint(number, bases[at] as number, multipliers[at] as number);
}
