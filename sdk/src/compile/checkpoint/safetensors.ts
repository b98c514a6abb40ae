import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { StoredFile } from "../files/stored-file.ts";
import { byteLength, type DataType, lazyTensor, type Tensor } from "../graph/tensor.ts";

/** The format's own bound on its header: https://github.com/huggingface/safetensors#format */
const MAX_HEADER_BYTES = 100_000_000;

const dtypes = new Map<string, DataType>([
  ["F64", "float64"],
  ["F32", "float32"],
  ["F16", "float16"],
  ["BF16", "bfloat16"],
  ["I64", "int64"],
  ["I32", "int32"],
  ["I8", "int8"],
  ["U8", "uint8"],
  ["BOOL", "bool"],
]);

const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Entry = v.object({ dtype: v.string(), shape: v.array(Size), data_offsets: v.tuple([Size, Size]) });

/**
 * Reads a safetensors file's header. The tensors are views of `file` if it is in memory, and read at each access otherwise.
 *
 * @param file bytes, or a file that `storedFile` opened
 * @param source the file's name, for errors
 * @throws BertEdgeError `safetensors_invalid`
 */
export function parseSafetensors(file: Uint8Array<ArrayBuffer> | StoredFile, source: string): Map<string, Tensor> {
  const invalid = (what: string, cause?: unknown) =>
    new BertEdgeError("safetensors_invalid", `${source} is not a valid safetensors file: ${what}.`, {
      hint: "The download may be incomplete, or a Git LFS pointer instead of the file: fetch it again.",
      cause,
    });

  if (file.length < 8) throw invalid("it is shorter than its header");
  const prefix = file.subarray(0, 8);
  const headerLength = Number(new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true));
  if (headerLength > MAX_HEADER_BYTES || 8 + headerLength > file.length) {
    throw invalid(`its header claims ${headerLength} bytes of a file of ${file.length}`);
  }
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(file.subarray(8, 8 + headerLength)));
  } catch (cause) {
    throw invalid("its header is not JSON", cause);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) throw invalid("its header is no object");

  const start = 8 + headerLength;
  const bodyLength = file.length - start;
  const tensors = new Map<string, Tensor>();
  const extents: { name: string; begin: number; end: number }[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const entry = v.safeParse(Entry, value);
    if (!entry.success) throw invalid(`tensor ${name} is not described as dtype, shape and data_offsets`);
    const { shape, data_offsets } = entry.output;
    const dtype = dtypes.get(entry.output.dtype);
    if (!dtype) throw invalid(`tensor ${name} has the unknown type ${entry.output.dtype}`);
    const [begin, end] = data_offsets;
    if (begin > end || end > bodyLength) throw invalid(`tensor ${name} lies outside the file`);
    if (end - begin !== byteLength({ dtype, shape })) {
      throw invalid(`tensor ${name} is ${dtype}[${shape}] but has ${end - begin} bytes`);
    }
    const data = () => file.subarray(start + begin, start + end);
    tensors.set(name, file instanceof Uint8Array ? { dtype, shape, data: data() } : lazyTensor(dtype, shape, data));
    extents.push({ name, begin, end });
  }

  // The format has tensors lie end to end, from the first byte to the last.
  let covered = 0;
  for (const { name, begin, end } of extents.sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < covered) throw invalid(`tensor ${name} overlaps another`);
    if (begin > covered) throw invalid(`there is a gap before tensor ${name}`);
    covered = end;
  }
  if (covered !== bodyLength) throw invalid(`${bodyLength - covered} bytes follow the last tensor`);
  return tensors;
}
