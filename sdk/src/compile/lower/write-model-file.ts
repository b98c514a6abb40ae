import { type Dtype, writeSafetensors } from "../../artifact/safetensors.ts";
import type { Graph } from "../graph/graph.ts";
import type { DataType, Tensor } from "../graph/tensor.ts";
import { type Lowered, lowerGraph, type ProgramSize } from "./lower-graph.ts";

/** Types that the engine's kernels read. */
const dtypes: Partial<Record<DataType, Dtype>> = { float32: "F32", int32: "I32", uint8: "U8" };

/** Tensor alignment: bytes of a cache line. */
const ALIGNMENT = 64;

/**
 * Encodes a graph with int8-edge operators as a model file of the edge engine.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export const encodeProgram = async (graph: Graph, size: ProgramSize): Promise<Uint8Array<ArrayBuffer>> =>
  writeModelFile(await lowerGraph(graph, size));

/**
 * Writes the engine's model file: safetensors with the program as metadata. The tensors are in this order:
 *
 * 1. tensors whose size is a multiple of a cache line. Each of them starts at a cache line.
 * 2. other tensors
 * 3. token embedding tables. Their last rows belong to rare tokens, so a session can run before it has received these
 *   rows.
 */
export function writeModelFile({ program, tensors }: Lowered): Uint8Array<ArrayBuffer> {
  const tables = new Set(program.steps.map((step) => (step.op === "lookup" ? step.table : undefined)));
  const place = ([name, { data }]: [string, Tensor]) => (tables.has(name) ? 2 : Number(data.length % ALIGNMENT !== 0));
  const ordered = [...tensors].sort((a, b) => place(a) - place(b));
  return writeSafetensors(
    ordered.map(([name, { dtype, shape, data }]) => [name, { dtype: dtypes[dtype] as Dtype, shape, data }]),
    { metadata: { format: "bert-edge", program: JSON.stringify(program) }, alignment: ALIGNMENT },
  );
}
