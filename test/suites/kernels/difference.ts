import { CALL, KERNEL_DATA } from "#sdk/runtime/engine/wasm/constants/memory.ts";
import type { KernelName } from "./index.ts";
import type { Call, Expected, Numbers } from "./kernel-case.ts";
import { bytesOf, type KernelMachine, type Placement, place } from "./place.ts";

/**
 * Runs a call and compares all of the memory with what the scalar reference says, byte by byte.
 *
 * @returns where they differ first; undefined where they do not
 */
export async function difference(
  name: KernelName,
  call: Call,
  machine: KernelMachine,
  placement: Placement,
): Promise<string | undefined> {
  const { offsets, run } = place(name, call, machine, placement);
  const memory = new Uint8Array(machine.memory.buffer);
  const wanted = memory.slice();
  const results = await call.results();
  run();
  // The kernels' own structs and buffers.
  wanted.set(memory.subarray(CALL, KERNEL_DATA), CALL);
  const arrays: [Numbers, number][] = [];
  for (const [operand, offset] of offsets) {
    if ("scratchBytes" in operand) {
      const end = offset + operand.scratchBytes(machine.kernels);
      wanted.set(memory.subarray(offset, end), offset);
      continue;
    }
    arrays.push([operand, offset]);
    const expected = results.get(operand);
    if (expected) wanted.set(bytesOf(accepted(foundIn(memory, operand, offset), expected)), offset);
  }
  if (Buffer.compare(memory, wanted) === 0) return undefined;
  const at = wanted.findIndex((byte, i) => byte !== memory[i]);
  const hit = arrays.find(([array, offset]) => at >= offset && at < offset + array.byteLength);
  if (!hit) return `byte ${at} became ${memory[at]}, which belongs to no operand`;
  const [array, offset] = hit;
  const index = Math.floor((at - offset) / array.BYTES_PER_ELEMENT);
  const [found, right] = [memory, wanted].map((bytes) => foundIn(bytes, array, offset)[index]);
  return `operand ${call.operands.indexOf(array)}, number ${index}: ${found} instead of ${right}`;
}

/** What an array of the same kind holds at an offset. */
function foundIn(memory: Uint8Array, like: Numbers, offset: number): Numbers {
  const found = like.slice();
  bytesOf(found).set(memory.subarray(offset, offset + like.byteLength));
  return found;
}

/** Expected numbers; in their place those found that are as good: NaN has many forms. */
function accepted(found: Numbers, { values, within }: Expected): Numbers {
  return values.map((value, i) => {
    const other = found[i] as number;
    const isClose = within && Math.abs(other - value) <= (within[i] as number);
    return isClose || (Number.isNaN(value) && Number.isNaN(other)) ? other : value;
  }) as Numbers;
}
