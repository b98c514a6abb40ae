import { type ByteSource, type Dtype, writeHeader, writeSafetensors } from "../../artifact/safetensors.ts";
import type { Program } from "../../runtime/engine/wasm/run/program.ts";
import { byteLength, type DataType, type Tensor } from "../graph/tensor.ts";
import type { Lowered } from "./lower-graph.ts";

/** Types that the engine's kernels read. */
const dtypes: Partial<Record<DataType, Dtype>> = { float32: "F32", int32: "I32", uint8: "U8" };

/** Tensor alignment: bytes of a cache line. */
const ALIGNMENT = 64;

/**
 * Writes the engine's model file: safetensors with the program as metadata. The tensors are in this order:
 *
 * 1. weights of 4 bits, which the engine expands in place: see runtime/engine/wasm/load/expanded-weights.ts
 * 2. other tensors whose size is a multiple of a cache line. Each of them starts at a cache line.
 * 3. other tensors
 * 4. token embedding tables. Their last rows belong to rare tokens, so a session can run before it has received these
 *   rows.
 */
export const writeModelFile = ({ program, tensors }: Lowered): Uint8Array<ArrayBuffer> =>
  writeSafetensors(
    ordered(program, tensors).map(([name, { shape, data, dtype }]) => [name, { shape, data, dtype: stored(dtype) }]),
    optionsOf(program),
  );

/** A program, and its tensors without their data. */
export interface ProgramOutline {
  readonly program: Program;
  readonly tensors: ReadonlyMap<string, Pick<Tensor, "dtype" | "shape">>;
}

/** Returns the model file that `writeModelFile` would write, of which only the header can be read. */
export function outlineFile({ program, tensors }: ProgramOutline): ByteSource {
  const { header, fileBytes } = writeHeader(
    ordered(program, tensors).map(([name, { shape, dtype }]) => [name, { shape, dtype: stored(dtype) }]),
    optionsOf(program),
  );
  return { length: fileBytes, subarray: (begin, end) => header.subarray(begin, end) };
}

const stored = (dtype: DataType): Dtype => dtypes[dtype] as Dtype;

const optionsOf = (program: Program) => ({
  metadata: { format: "bert-edge", program: JSON.stringify(program) },
  alignment: ALIGNMENT,
});

function ordered<T extends Pick<Tensor, "dtype" | "shape">>(
  { steps }: Program,
  tensors: ReadonlyMap<string, T>,
): [string, T][] {
  const packed = new Set(steps.map((step) => (step.op === "linearInt8" && step.group ? step.weight : undefined)));
  const tables = new Set(steps.map((step) => (step.op === "lookup" ? step.table : undefined)));
  const place = ([name, tensor]: [string, T]) =>
    packed.has(name) ? 0 : tables.has(name) ? 3 : byteLength(tensor) % ALIGNMENT === 0 ? 1 : 2;
  return [...tensors].sort((a, b) => place(a) - place(b));
}
