import { BertEdgeError } from "../../../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../../../artifact/manifest.ts";
import type { CheckedProgram } from "../run/checked-program.ts";

/** `includes` is compiled code. In a new isolate, it finds these in a quarter of the time of a loop over all numbers. */
const notInMasks = [Number.NaN, Number.POSITIVE_INFINITY];
const notFinite = [...notInMasks, Number.NEGATIVE_INFINITY];

/**
 * Refuses a model file with NaN or infinite numbers. Kernels that quantize would turn them into ordinary ones, and a text reads only
 * a few rows of a table. Integer weights are always finite; their scales are checked.
 *
 * @param file the model file, with all bytes up to `tensorsEnd`
 * @throws BertEdgeError `model_invalid`
 */
export function assertFinite({ buffer, byteOffset }: Uint8Array, { numbers }: CheckedProgram): void {
  for (const { name, offset, count, mayMask } of numbers) {
    const begin = byteOffset + offset;
    const values =
      begin % 4 === 0
        ? new Float32Array(buffer, begin, count)
        : new Float32Array(buffer.slice(begin, begin + 4 * count));
    if (!(mayMask ? notInMasks : notFinite).some((number) => values.includes(number))) continue;
    throw new BertEdgeError("model_invalid", `The tensor ${name} of the model has NaN or infinite numbers.`, {
      hint: PREPARE_AGAIN,
    });
  }
}
