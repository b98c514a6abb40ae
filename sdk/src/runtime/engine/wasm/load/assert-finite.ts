import { BertEdgeError } from "../../../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../../../artifact/manifest.ts";
import type { CheckedProgram } from "../run/checked-program.ts";

/** Numbers that masks must not contain. `includes` searches for them in native code. In a new isolate, a loop takes four times as long. */
const notInMasks = [Number.NaN, Number.POSITIVE_INFINITY];
const notFinite = [...notInMasks, Number.NEGATIVE_INFINITY];

/**
 * Refuses a model file with NaN or infinite numbers. Test texts would not find all of them: a text reads only a few rows of a table,
 * and kernels that quantize can turn NaN into ordinary numbers. Integer weights are always finite; their scales are checked.
 *
 * @param file the model file, with all bytes that every text needs
 * @throws BertEdgeError `model_invalid`
 */
export function assertFinite({ buffer, byteOffset }: Uint8Array, { numbers, fileBegins }: CheckedProgram): void {
  for (const { name, offset, count, mayMask } of numbers) {
    const begin = byteOffset + offset - fileBegins;
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
