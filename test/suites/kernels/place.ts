import { MODEL } from "#sdk/runtime/engine/wasm/constants/memory.ts";
import type { AttentionInt8, GemmInt8, Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { randomNumbers } from "../../fixtures/seeded.ts";
import type { KernelName } from "./index.ts";
import type { KernelCall, OperandArray, Scratch } from "./kernel-case.ts";

/** Fields of the kernels that take a struct, in the order of `KernelCall.operands`. */
const structs: Partial<Record<KernelName, readonly string[]>> = {
  gemmInt8: [
    "a",
    "rowParameters",
    "m",
    "k",
    "weight",
    "scales",
    "zeroPoints",
    "sums",
    "bias",
    "n",
    "out",
    "stride",
  ] satisfies (keyof GemmInt8)[],
  attentionInt8: [
    "query",
    "key",
    "value",
    "stride",
    "tokens",
    "size",
    "scale",
    "bias",
    "biasStep",
    "out",
    "outStride",
    "scratch",
  ] satisfies (keyof AttentionInt8)[],
};

/** The kernels of one build, and their memory. */
export interface KernelMachine {
  readonly kernels: Kernels;
  readonly memory: WebAssembly.Memory;
}

export interface Placement {
  /** Seed for the random order and the random offsets of the operands. */
  readonly seed: number;
  /** Value of the bytes between operands. */
  readonly guard: number;
  /** Alignment of the offsets in bytes. With the default, 1, one operand ends exactly at the end of memory. */
  readonly alignment?: number;
}

/** A call with its operands in memory. */
export interface Placed {
  readonly offsets: ReadonlyMap<OperandArray | Scratch, number>;
  run(): void;
}

/**
 * Minimum number of bytes between operands. A random number of up to 63 bytes is added, so that all alignments occur.
 */
const GUARD = 32;

/** Copies a call's operands to the end of the memory, in random order and with random gaps between them. */
export function place(
  name: KernelName,
  { operands }: KernelCall,
  { kernels, memory }: KernelMachine,
  { seed, guard, alignment = 1 }: Placement,
): Placed {
  const random = randomNumbers(seed);
  const bytes = new Uint8Array(memory.buffer).fill(guard, MODEL);
  const offsets = new Map<OperandArray | Scratch, number>();
  const kept = operands.flatMap((operand) => {
    if (typeof operand === "number") return [];
    return "array" in operand ? operand.array : operand;
  });
  let end = bytes.length;
  for (const operand of shuffled([...new Set(kept)], random)) {
    const content = "scratchBytes" in operand ? undefined : bytesOfArray(operand);
    const size = content?.length ?? (operand as Scratch).scratchBytes(kernels);
    const offset = alignment * Math.floor((end - size) / alignment);
    if (offset < MODEL + GUARD) throw new RangeError(`${name} needs more than ${bytes.length} bytes of memory.`);
    if (content) bytes.set(content, offset);
    offsets.set(operand, offset);
    end = offset - GUARD - Math.floor(64 * random());
  }
  const pointers = operands.map((operand) => {
    if (typeof operand === "number") return operand;
    if (!("array" in operand)) return offsets.get(operand) as number;
    return (offsets.get(operand.array) as number) + operand.from * operand.array.BYTES_PER_ELEMENT;
  });
  const names = structs[name];
  if (names) {
    const operands = Object.fromEntries(names.map((field, i) => [field, pointers[i]]));
    const kernel = kernels[name] as (struct: object) => void;
    return { offsets, run: () => kernel(operands) };
  }
  const kernel = kernels[name] as (...parameters: number[]) => void;
  return { offsets, run: () => kernel(...pointers) };
}

export const bytesOfArray = ({ buffer, byteOffset, byteLength }: OperandArray): Uint8Array<ArrayBuffer> =>
  new Uint8Array(buffer, byteOffset, byteLength);

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(rest.length * random()), 1));
}
