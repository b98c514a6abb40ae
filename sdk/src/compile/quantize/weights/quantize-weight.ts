import { release } from "../../files/large-buffers.ts";
import { type Tensor, toFloat32 } from "../../graph/tensor.ts";
import { type Compensation, compensation } from "./compensation.ts";
import { bestGrid, fullGrid, type Grid, type Levels, levelOf } from "./grid.ts";
import { type Moments, meanSquares } from "./moments.ts";

/**
 * A linear map's weight in whole numbers:
 * weight[i, o] ≈ step[o, b] · (levels[i, o] − zero[o, b]) with b the block that input i is in.
 */
export interface QuantizedWeight {
  /** [in, out] */
  readonly levels: Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  /** [out, blocks] */
  readonly step: Float32Array;
  readonly zero: Int32Array;
  /** [out]: what rounding takes from the mean of each output. Undefined without calibration. */
  readonly shift: Float32Array | undefined;
}

export interface WeightPrecision extends Levels {
  /** Neighbouring inputs that share a step. Default: all. */
  readonly block?: number;
}

/** What is done so that rounding costs less. */
export interface Improvements {
  /** Steps of the least squared error, which may clip the largest weights. */
  readonly clipping: boolean;
  /** Later inputs make up for the rounding of earlier ones. Needs moments. */
  readonly compensation: boolean;
  /** What rounding takes from outputs' means is given back. Needs moments. */
  readonly biasCorrection: boolean;
}

export const TO_THE_NEAREST: Improvements = { clipping: false, compensation: false, biasCorrection: false };

/**
 * @param weight float32 [in, out]
 * @param moments of what the map reads; undefined without calibration
 */
export function quantizeWeight(
  weight: Tensor,
  precision: WeightPrecision,
  improvements: Improvements,
  moments: Moments | undefined,
): QuantizedWeight {
  const [inputs = 0, outputs = 0] = weight.shape;
  const { block = inputs } = precision;
  const values = toFloat32(weight);
  const blocks = Math.ceil(inputs / block);
  const levels = new (precision.least < 0 ? Int8Array : Uint8Array)(values.length);
  const step = new Float32Array(outputs * blocks);
  const zero = new Int32Array(outputs * blocks);
  const shift = moments && improvements.biasCorrection ? new Float32Array(outputs) : undefined;
  const importance = moments && meanSquares(moments);
  const compensated = moments && improvements.compensation ? compensation(moments) : undefined;

  const channel = new Float32Array(inputs);
  const errors = new Float32Array(inputs);
  for (let output = 0; output < outputs; output++) {
    for (let i = 0; i < inputs; i++) channel[i] = values[i * outputs + output] as number;
    const grids = Array.from({ length: blocks }, (_, b): Grid => {
      const part = channel.subarray(b * block, (b + 1) * block);
      const grid = improvements.clipping
        ? bestGrid(part, precision, importance?.subarray(b * block, (b + 1) * block))
        : fullGrid(part, precision);
      step[output * blocks + b] = grid.step;
      zero[output * blocks + b] = grid.zero;
      return grid;
    });
    /** Rounds one weight and returns what is lost of it. */
    const round = (i: number, weight: number): number => {
      const grid = grids[Math.floor(i / block)] as Grid;
      const level = levelOf(weight, grid, precision);
      levels[i * outputs + output] = level;
      return (channel[i] as number) - grid.step * (level - grid.zero);
    };
    if (compensated) roundInOrder(channel, errors, compensated, round);
    else for (let i = 0; i < inputs; i++) errors[i] = round(i, channel[i] as number);
    if (shift && moments) shift[output] = errors.reduce((sum, error, i) => sum + error * meanOf(moments, i), 0);
  }
  if (compensated) release(compensated.factors);
  return { levels, step, zero, shift };
}

const meanOf = ({ sum, tokens }: Moments, i: number): number => (sum[i] as number) / tokens;

/** Rounds a channel's weights one after the other, each moved by what those before it have lost. */
function roundInOrder(
  channel: Float32Array,
  errors: Float32Array,
  { order, factors }: Compensation,
  round: (i: number, weight: number) => number,
): void {
  const inOrder = new Float32Array(channel.length);
  for (let k = 0; k < channel.length; k++) {
    const i = order[k] as number;
    const start = k * channel.length;
    let owed = 0;
    for (let j = 0; j < k; j++) owed += (factors[start + j] as number) * (inOrder[j] as number);
    const error = round(i, (channel[i] as number) + owed);
    inOrder[k] = error;
    errors[i] = error;
  }
}
