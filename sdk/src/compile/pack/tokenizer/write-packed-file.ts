import { dtypeBytes, type TensorToWrite, writeSafetensors } from "../../../artifact/safetensors.ts";
import { integerTypes, type TokenizerArrays } from "../../../runtime/tokenizer/packed/packed-arrays.ts";
import { FORMAT } from "../../../runtime/tokenizer/packed/packed-file.ts";
import type { TokenizerSettings } from "../../../runtime/tokenizer/packed/packed-settings.ts";

/**
 * Writes the file that `readPackedFile` reads. Each integer array is stored in the narrowest type that can hold the
 * array's maximum. Arrays with wider elements come first, so all arrays are aligned.
 */
export function writePackedFile<S extends TokenizerSettings>(
  settings: S,
  arrays: Record<keyof TokenizerArrays<S["kind"]> & string, ArrayLike<number>>,
): Uint8Array<ArrayBuffer> {
  const tensors = Object.entries<ArrayLike<number>>(arrays).map(
    ([name, numbers]) => [name, tensorOf(numbers)] as const,
  );
  tensors.sort(([, a], [, b]) => dtypeBytes[b.dtype] - dtypeBytes[a.dtype]);
  return writeSafetensors(tensors, { metadata: { format: FORMAT, settings: JSON.stringify(settings) } });
}

function tensorOf(numbers: ArrayLike<number>): TensorToWrite {
  const shape = [numbers.length];
  if (numbers instanceof Float64Array) return { dtype: "F64", shape, data: bytesOf(numbers) };
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) largest = Math.max(largest, numbers[i] as number);
  const dtype = largest < 2 ** 8 ? "U8" : largest < 2 ** 16 ? "U16" : "U32";
  return { dtype, shape, data: bytesOf(integerTypes[dtype].from(numbers)) };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
