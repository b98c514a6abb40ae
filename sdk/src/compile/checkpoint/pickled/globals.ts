import type { DataType } from "../../graph/tensor.ts";

/** Meaning of a global of Python for the reader. It is a name, and nothing is called. */
export type KnownGlobal =
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
