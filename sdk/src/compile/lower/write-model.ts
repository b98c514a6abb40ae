import type { DataType, Tensor } from "../graph/tensor.ts";
import type { Lowered } from "./lower.ts";

const dtypes: Partial<Record<DataType, string>> = { float32: "F32", int32: "I32", uint8: "U8" };

/** Tensors begin at a multiple of this, which is a cache line. */
const ALIGNMENT = 64;

/**
 * The engine's model file: safetensors, with the program as its metadata. The header is filled up so that tensors are
 * aligned; those whose sizes are multiples of a cache line come first, and after all others what sequences need only some
 * rows of, those of frequent words before those of rare ones.
 */
export function writeModel({ program, tensors }: Lowered): Uint8Array<ArrayBuffer> {
  const tables = new Set(program.steps.map((step) => (step.op === "lookup" ? step.table : undefined)));
  const place = ([name, { data }]: [string, Tensor]) => (tables.has(name) ? 2 : Number(data.length % ALIGNMENT !== 0));
  const order = [...tensors].sort((a, b) => place(a) - place(b));
  const header: Record<string, object> = { __metadata__: { format: "bert-edge", program: JSON.stringify(program) } };
  let end = 0;
  for (const [name, { dtype, shape, data }] of order) {
    header[name] = { dtype: dtypes[dtype], shape, data_offsets: [end, end + data.length] };
    end += data.length;
  }
  const json = JSON.stringify(header);
  const bytes = new TextEncoder().encode(json);
  const headerLength = Math.ceil((8 + bytes.length) / ALIGNMENT) * ALIGNMENT - 8;
  const file = new Uint8Array(8 + headerLength + end).fill(0x20, 8, 8 + headerLength);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerLength), true);
  file.set(bytes, 8);
  let at = 8 + headerLength;
  for (const [, { data }] of order) {
    file.set(data, at);
    at += data.length;
  }
  return file;
}
