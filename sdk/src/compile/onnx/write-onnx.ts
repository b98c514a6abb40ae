import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Graph } from "../graph/graph.ts";
import { encodeModel, type PartialMessage } from "../proto/encode-model.ts";
import type { ModelProto, TensorProto } from "../proto/onnx-messages.ts";
import { type Chunk, inMemory } from "../proto/protobuf-writer.ts";
import { toOnnx } from "./to-onnx.ts";

/** Maximum bytes of weights inside the file: protobuf's limit of 2 GiB, minus 64 MiB for the graph itself. */
const MAX_INLINE_BYTES = 2 ** 31 - 2 ** 26;

/**
 * Minimum bytes of an external tensor. Smaller tensors stay in the file: readers need them to infer shapes, before the
 * external weights are loaded.
 */
const MIN_EXTERNAL_BYTES = 1024;

/** Alignment of external tensors: the size of a memory page, so that readers can map them into memory. */
const ALIGNMENT = 4096;

/** Value of the enum TensorProto.DataLocation for data in another file. */
const EXTERNAL = 1;

export interface WriteOptions {
  /**
   * Maximum total bytes of weights inside the file. If the weights take more bytes, large weights go to a second file,
   * `<path>.data`. Default: protobuf's limit.
   */
  maxInlineBytes?: number;
}

/**
 * Writes a graph as an ONNX file. Loads one tensor at a time. If the weights exceed `maxInlineBytes`, writes large
 * weights to a second file.
 *
 * @param path must not be a file that contains weights of the graph, because they are read while the file is written
 */
export async function writeOnnx(
  path: string,
  graph: Graph,
  envelope: PartialMessage<ModelProto> = {},
  { maxInlineBytes = MAX_INLINE_BYTES }: WriteOptions = {},
): Promise<void> {
  const model = toOnnx(graph, envelope);
  const tensors = model.graph?.initializer ?? [];
  const bytes = tensors.reduce((sum, { rawData }) => sum + (rawData?.length ?? 0), 0);
  if (bytes <= maxInlineBytes) return writeChunks(path, encodeModel(model).chunks());
  const { initializer, chunks } = withExternalData(tensors, `${basename(path)}.data`);
  await writeChunks(`${path}.data`, chunks);
  await writeChunks(path, encodeModel({ ...model, graph: { ...model.graph, initializer } }).chunks());
}

function withExternalData(tensors: readonly PartialMessage<TensorProto>[], location: string) {
  const chunks: Chunk[] = [];
  let end = 0;
  const initializer = tensors.map((tensor): PartialMessage<TensorProto> => {
    const { rawData, ...rest } = tensor;
    if (!rawData || rawData.length < MIN_EXTERNAL_BYTES) return tensor;
    const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    chunks.push(new Uint8Array(offset - end), rawData);
    end = offset + rawData.length;
    const entries = { location, offset: `${offset}`, length: `${rawData.length}` };
    return {
      ...rest,
      dataLocation: EXTERNAL,
      externalData: Object.entries(entries).map(([key, value]) => ({ key, value })),
    };
  });
  return { initializer, chunks };
}

async function writeChunks(path: string, chunks: Iterable<Chunk>): Promise<void> {
  const file = await open(path, "w");
  try {
    for (const chunk of inMemory(chunks)) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}
