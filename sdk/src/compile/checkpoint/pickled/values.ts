import type { DataType } from "../../graph/tensor.ts";

/** A global of Python that the reader knows. The reader uses only the name of the global, and calls nothing. */
type KnownGlobal =
  | {
      readonly kind: "function";
      readonly name: "OrderedDict" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3" | "_rebuild_parameter";
    }
  | { readonly kind: "storage type"; readonly dtype: DataType | undefined }
  | { readonly kind: "dtype"; readonly dtype: DataType };

const storageTypes: Readonly<Record<string, DataType>> = {
  BoolStorage: "bool",
  ByteStorage: "uint8",
  CharStorage: "int8",
  ShortStorage: "int16",
  IntStorage: "int32",
  LongStorage: "int64",
  HalfStorage: "float16",
  BFloat16Storage: "bfloat16",
  FloatStorage: "float32",
  DoubleStorage: "float64",
};

/** Types that have no storage class of their own. PyTorch saves such a tensor with an untyped storage. */
const dtypes: readonly DataType[] = ["uint16", "uint32", "uint64"];

/** All globals that the reader knows, by module and name: those that PyTorch writes for a dict of tensors. */
const globals: ReadonlyMap<string, KnownGlobal> = new Map<string, KnownGlobal>([
  ["collections.OrderedDict", { kind: "function", name: "OrderedDict" }],
  ["torch._utils._rebuild_tensor_v2", { kind: "function", name: "_rebuild_tensor_v2" }],
  ["torch._utils._rebuild_tensor_v3", { kind: "function", name: "_rebuild_tensor_v3" }],
  ["torch._utils._rebuild_parameter", { kind: "function", name: "_rebuild_parameter" }],
  ["torch.storage.UntypedStorage", { kind: "storage type", dtype: undefined }],
  ...Object.entries(storageTypes).map(
    ([name, dtype]) => [`torch.${name}`, { kind: "storage type", dtype }] as [string, KnownGlobal],
  ),
  ...dtypes.map((dtype) => [`torch.${dtype}`, { kind: "dtype", dtype }] as [string, KnownGlobal]),
]);

/** Returns the global of a name such as `torch.FloatStorage`; undefined if the reader does not know it. */
export const globalNamed = (name: string): KnownGlobal | undefined => globals.get(name);

/** A value of a pickle. All values are plain data. */
export type PickledValue =
  | null
  | boolean
  | number
  | string
  | readonly PickledValue[]
  | PickledDict
  | KnownGlobal
  | PickledStorage
  | PickledTensor;

/** Numbers in an entry of the archive. Several tensors can share them. */
export interface PickledStorage {
  readonly kind: "storage";
  /** Undefined if the tensors name the type. */
  readonly dtype: DataType | undefined;
  /** Name of the entry in the folder `data`. */
  readonly key: string;
  /** Number of elements, or of bytes if the type is undefined. */
  readonly length: number;
}

/** A view of a storage. `StoredTensors` checks whether it lies in the storage. */
export interface PickledTensor {
  readonly kind: "tensor";
  readonly storage: PickledStorage;
  readonly dtype: DataType;
  /** Index of the first element in the storage. */
  readonly offset: number;
  readonly shape: readonly number[];
  /** Distance between neighbours along each axis, in elements. */
  readonly strides: readonly number[];
}

/** A dict whose keys are texts. */
export class PickledDict {
  readonly kind = "dict";
  /** Undefined while the dict is empty, which saves memory: each byte of a pickle can make an empty dict. */
  #entries: Map<string, PickledValue> | undefined;

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  has(key: string): boolean {
    return this.#entries?.has(key) ?? false;
  }

  set(key: string, value: PickledValue): void {
    this.#entries ??= new Map();
    this.#entries.set(key, value);
  }

  entries(): Iterable<[string, PickledValue]> {
    return this.#entries ?? [];
  }
}

/** Returns the kind of a value; undefined for texts, numbers and tuples. */
export const kindOf = (value: PickledValue | undefined): string | undefined =>
  typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;

/** Values of one kind. */
type OfKind<K extends string> = Extract<PickledValue, { readonly kind: K }>;

const is =
  <K extends string>(kind: K) =>
  (value: PickledValue | undefined): value is OfKind<K> =>
    kindOf(value) === kind;

export const isFunction = is("function");
export const isStorageType = is("storage type");
export const isDtype = is("dtype");
export const isStorage = is("storage");
export const isTensor = is("tensor");
