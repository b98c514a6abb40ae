import { BertEdgeError } from "../../artifact/error.ts";
import { type Dtype, readSafetensors } from "../../artifact/safetensors.ts";
import type { StoredFile } from "../files/stored-file.ts";
import { type DataType, lazyTensor, type Tensor } from "../graph/tensor.ts";

/** Element type in a graph for each type name of safetensors. */
const dataTypeOf: Readonly<Record<Dtype, DataType>> = {
  BOOL: "bool",
  U8: "uint8",
  I8: "int8",
  U16: "uint16",
  I16: "int16",
  F16: "float16",
  BF16: "bfloat16",
  U32: "uint32",
  I32: "int32",
  F32: "float32",
  U64: "uint64",
  I64: "int64",
  F64: "float64",
};

/**
 * Returns the tensors of a safetensors file by name. If the file is in memory, the tensors are views of
 * it. Large tensors of a stored file are read at each access.
 *
 * @param source name of the file, for errors
 * @throws BertEdgeError `safetensors_invalid`
 */
export function readTensors(file: Uint8Array<ArrayBuffer> | StoredFile, source: string): Map<string, Tensor> {
  const { tensors } = readSafetensors(
    file,
    (fault, cause) =>
      new BertEdgeError("safetensors_invalid", `${source} is not a valid safetensors file: ${fault}.`, {
        hint: "The download may be incomplete, or the file may be a Git LFS pointer: download it again.",
        cause,
      }),
  );
  const read = new Map<string, Tensor>();
  for (const [name, { dtype, shape, begin, end }] of tensors) {
    const dataType = dataTypeOf[dtype];
    const data = () => file.subarray(begin, end);
    const isInMemory = file instanceof Uint8Array;
    read.set(name, isInMemory ? { dtype: dataType, shape, data: data() } : lazyTensor(dataType, shape, data));
  }
  return read;
}

/**
 * Names of tensors that are not reported as unread: buffers, which change no result, and the pooler, which only classifiers
 * of some families read. Every model of some families has these tensors. transformers does not report them either.
 */
const WITHOUT_EFFECT = /(^|\.)(position_ids|token_type_ids|inv_freq|pooler(\.dense)?\.(weight|bias))$/;

/** Tensors of a checkpoint. Records which tensors are read. */
export class WatchedTensors extends Map<string, Tensor> {
  readonly #read = new Set<string>();

  override get(name: string): Tensor | undefined {
    this.#read.add(name);
    return super.get(name);
  }

  /** Sorted names of the tensors that were not read, without the names that match `WITHOUT_EFFECT`. */
  get unread(): string[] {
    return [...this.keys()].filter((name) => !this.#read.has(name) && !WITHOUT_EFFECT.test(name)).sort();
  }
}
