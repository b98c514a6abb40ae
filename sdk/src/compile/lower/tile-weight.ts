import { TILE_INPUTS as INPUTS, TILE_OUTPUTS as OUTPUTS } from "../../runtime/engine/wasm/constants/tiles.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";

const whole = (count: number, size: number): number => Math.ceil(count / size) * size;

/**
 * Arranges a weight matrix in the order in which the engine's int8 GEMM kernel reads it.
 *
 * @param weight u8 [out, in]
 * @returns u8 [out/8, in/4, 8, 4], padded with zeros
 */
export function tileWeight({ shape: [outputs = 0, inputs = 0], data }: Tensor): Tensor {
  const [tiles, quads] = [whole(outputs, OUTPUTS) / OUTPUTS, whole(inputs, INPUTS) / INPUTS];
  const tiled = new Uint8Array(tiles * quads * OUTPUTS * INPUTS);
  for (let output = 0; output < outputs; output++) {
    const tile = Math.floor(output / OUTPUTS) * quads * OUTPUTS * INPUTS + (output % OUTPUTS) * INPUTS;
    for (let input = 0; input < inputs; input++) {
      const at = tile + Math.floor(input / INPUTS) * OUTPUTS * INPUTS + (input % INPUTS);
      tiled[at] = data[output * inputs + input] as number;
    }
  }
  return tensor("uint8", [tiles, quads, OUTPUTS, INPUTS], tiled);
}

/** Appends zeros to a vector with one number per output. The new length is a multiple of the tile height. */
export function tilePadded<T extends Float32Array | Int32Array>(values: T): T {
  const padded = new (values.constructor as new (length: number) => T)(whole(values.length, OUTPUTS));
  padded.set(values);
  return padded;
}

/** Returns the sum of each row of a matrix [rows, width]. */
export function rowSums(values: Uint8Array, width: number, rows: number): Int32Array {
  const sums = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width; i++) sums[row] = (sums[row] as number) + (values[row * width + i] as number);
  }
  return sums;
}
