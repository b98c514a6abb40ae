import { CALL, KERNEL_DATA } from "#sdk/runtime/engine/wasm/constants/memory.ts";
import type { KernelName } from "./index.ts";
import type { Expected, KernelCall, OperandArray } from "./kernel-case.ts";
import { bytesOfArray, type KernelMachine, type Placement, place } from "./place.ts";

/**
 * Runs a kernel call, and compares every byte of the memory with the expected memory: the results of the reference
 * kernel, and no change elsewhere.
 *
 * @returns the first difference; undefined if there is none
 */
export async function difference(
  name: KernelName,
  call: KernelCall,
  machine: KernelMachine,
  placement: Placement,
): Promise<string | undefined> {
  const { offsets, run } = place(name, call, machine, placement);
  const memory = new Uint8Array(machine.memory.buffer);
  const wanted = memory.slice();
  const results = await call.results();
  run();
  // Accept any content of the kernels' own structs and buffers.
  wanted.set(memory.subarray(CALL, KERNEL_DATA), CALL);
  const arrays: [OperandArray, number][] = [];
  for (const [operand, offset] of offsets) {
    if ("scratchBytes" in operand) {
      const end = offset + operand.scratchBytes(machine.kernels);
      wanted.set(memory.subarray(offset, end), offset);
      continue;
    }
    arrays.push([operand, offset]);
    const expected = results.get(operand);
    if (expected) wanted.set(bytesOfArray(accepted(foundIn(memory, operand, offset), expected)), offset);
  }
  if (Buffer.compare(memory, wanted) === 0) return undefined;
  const at = wanted.findIndex((byte, i) => byte !== memory[i]);
  const hit = arrays.find(([array, offset]) => at >= offset && at < offset + array.byteLength);
  if (!hit) return `byte ${at}, which belongs to no operand, became ${memory[at]}`;
  const [array, offset] = hit;
  const index = Math.floor((at - offset) / array.BYTES_PER_ELEMENT);
  const [found, right] = [memory, wanted].map((bytes) => foundIn(bytes, array, offset)[index]);
  return `operand ${call.operands.indexOf(array)}, number ${index}: ${found} instead of ${right}`;
}

/** Reads an array from memory. It has the type and the length of `like`. */
function foundIn(memory: Uint8Array, like: OperandArray, offset: number): OperandArray {
  const found = like.slice();
  bytesOfArray(found).set(memory.subarray(offset, offset + like.byteLength));
  return found;
}

/**
 * Returns the expected numbers, but replaces some of them with the found number at the same index: numbers that differ
 * by no more than the tolerance `within`, and numbers that are both NaN.
 */
function accepted(found: OperandArray, { values, within }: Expected): OperandArray {
  return values.map((value, i) => {
    const other = found[i] as number;
    const isClose = within && Math.abs(other - value) <= (within[i] as number);
    return isClose || (Number.isNaN(value) && Number.isNaN(other)) ? other : value;
  }) as OperandArray;
}
