import { BertEdgeError } from "../../../artifact/error.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import { dtypeBytes, readSafetensors, type StoredTensor } from "../../../artifact/safetensors.ts";
import { floatArrays, type IntegerArray, integerArrays, integerTypes, type TokenizerArrays } from "./packed-arrays.ts";
import { TokenizerSettings } from "./packed-settings.ts";

// A packed tokenizer is a safetensors file. Its metadata has two entries: `format` is FORMAT, and `settings` is JSON.
// Its tensors are arrays of numbers, which are used without a copy.

/** Version of the file format. Raise it when older readers could misread newer files. */
export const FORMAT = "bert-edge-tokenizer/5";

type Bytes = Uint8Array<ArrayBuffer>;

/** The settings and arrays of a packed tokenizer. */
export type PackedFile<S extends TokenizerSettings = TokenizerSettings> = S extends TokenizerSettings
  ? { readonly kind: S["kind"]; readonly settings: S; readonly arrays: TokenizerArrays<S["kind"]> }
  : never;

const hint = "Run `bert-edge prepare` and `bert-edge publish` again with this version of bert-edge.";

/** Creates the error for a packed tokenizer that cannot be read. The message is "The packed tokenizer <fault>." */
export const invalid = (fault: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("tokenizer_invalid", `The packed tokenizer ${fault}.`, { hint, cause });

/**
 * Checks that all token ids are below the vocabulary size.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function checkIds(ids: ArrayLike<number>, vocabularySize: number): void {
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    if (id >= vocabularySize)
      throw invalid(`has the token id ${id}, but the model's vocabulary size is ${vocabularySize}`);
  }
}

/**
 * Reads a packed tokenizer.
 *
 * @returns the settings and the arrays. The arrays are views of `bytes`. If `bytes` is not aligned for float64 in its
 *   buffer, the arrays are views of a copy.
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function readPackedFile(bytes: Uint8Array<ArrayBuffer>): PackedFile {
  const aligned = bytes.byteOffset % dtypeBytes.F64 === 0 ? bytes : bytes.slice();
  const { metadata, tensors } = readSafetensors(aligned, (fault, cause) =>
    invalid(`is not a valid safetensors file: ${fault}`, cause),
  );
  const format = metadata.get("format");
  if (format !== FORMAT) throw invalid(`has the format ${format ?? "(none)"}; this version reads ${FORMAT}`);
  const settings = parseJson(TokenizerSettings, metadata.get("settings") ?? "", {
    code: "tokenizer_invalid",
    what: "packed tokenizer's settings",
    hint,
  });
  const { kind } = settings;
  const tensor = (name: string): StoredTensor => {
    const found = tensors.get(name);
    if (!found) throw invalid(`lacks the tensor ${name}`);
    const { dtype, begin } = found;
    if (begin % dtypeBytes[dtype] !== 0) throw invalid(`has the tensor ${name} at byte ${begin}, which is not aligned`);
    return found;
  };
  const arrays = [
    ...integerArrays[kind].map((name) => [name, integersOf(aligned, name, tensor(name))]),
    ...floatArrays[kind].map((name) => [name, floatsOf(aligned, name, tensor(name))]),
  ];
  return { kind, settings, arrays: Object.fromEntries(arrays) } as unknown as PackedFile;
}

const lengthOf = ({ dtype, begin, end }: StoredTensor): number => (end - begin) / dtypeBytes[dtype];

function integersOf({ buffer, byteOffset }: Bytes, name: string, tensor: StoredTensor): IntegerArray {
  const { dtype, begin } = tensor;
  if (dtype !== "U8" && dtype !== "U16" && dtype !== "U32")
    throw invalid(`has the tensor ${name} with the type ${dtype} instead of U8, U16 or U32`);
  return new integerTypes[dtype](buffer, byteOffset + begin, lengthOf(tensor));
}

function floatsOf({ buffer, byteOffset }: Bytes, name: string, tensor: StoredTensor): Float64Array {
  const { dtype, begin } = tensor;
  if (dtype !== "F64") throw invalid(`has the tensor ${name} with the type ${dtype} instead of F64`);
  return new Float64Array(buffer, byteOffset + begin, lengthOf(tensor));
}
