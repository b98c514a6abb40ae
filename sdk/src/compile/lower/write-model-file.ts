import { type Dtype, writeSafetensors } from "../../artifact/safetensors.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import type { Graph } from "../graph/graph.ts";
import type { DataType, Tensor } from "../graph/tensor.ts";
import { type Lowered, lowerGraph, type ProgramSize } from "./lower-graph.ts";

/** Types that the engine's kernels read. */
const dtypes: Partial<Record<DataType, Dtype>> = { float32: "F32", int32: "I32", uint8: "U8" };

/** Tensor alignment: bytes of a cache line. */
const ALIGNMENT = 64;

export interface EncodeOptions extends ProgramSize {
  /** Maximum bytes of weights in memory. With more, weights of 4 bits are expanded in each call. Default: no maximum. */
  readonly maxMemory?: number;
}

/**
 * Encodes a graph with int8-edge operators as a model file of the edge engine.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export async function encodeProgram(
  graph: Graph,
  { maxMemory = Number.POSITIVE_INFINITY, ...size }: EncodeOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { program, tensors } = await lowerGraph(graph, size);
  const file = writeModelFile({ program, tensors });
  const { begins } = readModelFile(file).expansions;
  if (begins === 0 || begins + file.length <= maxMemory) return file;
  return writeModelFile({ program: { ...program, expands: "each call" }, tensors });
}

/**
 * Writes the engine's model file: safetensors with the program as metadata. The tensors are in this order:
 *
 * 1. weights of 4 bits, which the engine expands in place: see runtime/engine/wasm/load/expanded-weights.ts
 * 2. other tensors whose size is a multiple of a cache line. Each of them starts at a cache line.
 * 3. other tensors
 * 4. token embedding tables. Their last rows belong to rare tokens, so a session can run before it has received these
 *   rows.
 */
export function writeModelFile({ program, tensors }: Lowered): Uint8Array<ArrayBuffer> {
  const packed = new Set(
    program.steps.map((step) => (step.op === "linearInt8" && step.group ? step.weight : undefined)),
  );
  const tables = new Set(program.steps.map((step) => (step.op === "lookup" ? step.table : undefined)));
  const place = ([name, { data }]: [string, Tensor]) =>
    packed.has(name) ? 0 : tables.has(name) ? 3 : data.length % ALIGNMENT === 0 ? 1 : 2;
  const ordered = [...tensors].sort((a, b) => place(a) - place(b));
  return writeSafetensors(
    ordered.map(([name, { dtype, shape, data }]) => [name, { dtype: dtypes[dtype] as Dtype, shape, data }]),
    { metadata: { format: "bert-edge", program: JSON.stringify(program) }, alignment: ALIGNMENT },
  );
}
