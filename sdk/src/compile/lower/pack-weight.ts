import { GROUP_PARAMETERS, TILE_INPUTS, TILE_OUTPUTS } from "../../runtime/engine/wasm/constants/tiles.ts";
import { packedGroupBytes, type WeightGroup, weightBytes } from "../../runtime/engine/wasm/ops/linear.ts";
import { aligned } from "../../runtime/engine/wasm/run/memory-map.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import { MAX_CODE } from "../quantize/weights/four-bit-points.ts";

/**
 * Packs a weight matrix whose weights have 4 bits, in the form that assembly/expand.ts describes.
 *
 * @param weight u8 [out, in]
 * @returns u8 [bytes]
 * @throws RangeError if the weights of a group are not base + multiplier · code
 */
export function packWeight({ shape: [outputs = 0, inputs = 0], data }: Tensor, group: WeightGroup): Tensor {
  const groups = inputs / group;
  const bytes = packedGroupBytes(group);
  // Packed weights fill up cache lines, so that the tensors after them begin at one.
  const packed = new Uint8Array(aligned(weightBytes(inputs, outputs, group)));
  const half = TILE_OUTPUTS / 2;
  for (let output = 0; output < outputs; output++) {
    const [panel, row] = [Math.floor(output / TILE_OUTPUTS), output % TILE_OUTPUTS];
    for (let g = 0; g < groups; g++) {
      const from = output * inputs + g * group;
      const weights = data.subarray(from, from + group);
      const { base, multiplier } = pointsOf(weights);
      const at = (panel * groups + g) * bytes;
      packed[at + row] = base;
      setHalf(packed, at + TILE_OUTPUTS + (row % half), row >= half, multiplier);
      for (let i = 0; i < group; i++) {
        const [tile, input] = [Math.floor(i / TILE_INPUTS), i % TILE_INPUTS];
        const vector = 2 * (tile >> 1) + Math.floor(row / half);
        const place = at + GROUP_PARAMETERS + 16 * vector + (row % half) * TILE_INPUTS + input;
        setHalf(packed, place, tile % 2 === 1, ((weights[i] as number) - base) / multiplier);
      }
    }
  }
  return tensor("uint8", [packed.length], packed);
}

function setHalf(bytes: Uint8Array, at: number, isUpper: boolean, value: number): void {
  bytes[at] = (bytes[at] as number) | (value << (isUpper ? 4 : 0));
}

/** Finds a base and a multiplier of a group's weights: the smallest weight, and a divisor of the distances to it. */
function pointsOf(weights: Uint8Array): { readonly base: number; readonly multiplier: number } {
  let [base, largest, divisor] = [255, 0, 0];
  for (const weight of weights) [base, largest] = [Math.min(base, weight), Math.max(largest, weight)];
  for (const weight of weights) divisor = greatestCommonDivisor(weight - base, divisor);
  for (let multiplier = Math.max(Math.ceil((largest - base) / MAX_CODE), 1); multiplier <= MAX_CODE; multiplier++) {
    if (divisor % multiplier === 0) return { base, multiplier };
  }
  throw new RangeError(`The weights ${weights.join(" ")} are not 16 points at equal distances.`);
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
