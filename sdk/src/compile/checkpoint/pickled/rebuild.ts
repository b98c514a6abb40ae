import type { FileFaults } from "../../files/stored-file.ts";
import {
  isDtype,
  isFunction,
  isStorage,
  isStorageType,
  isTensor,
  PickledDict,
  type PickledStorage,
  type PickledTensor,
  type PickledValue,
} from "./values.ts";

/** Maximum number of axes, as in PyTorch. */
const MAX_AXES = 64;

/**
 * Returns the value that a pickle describes as a call of a function with arguments.
 *
 * @throws the error that `faults` makes, for a function that the reader does not know, or for other arguments than PyTorch writes
 */
export function rebuild(called: PickledValue, args: PickledValue, faults: FileFaults): PickledValue {
  if (!isFunction(called)) throw faults.invalid("its pickle calls something that is not a function");
  const wrong = () => faults.invalid(`its pickle calls ${called.name} with other arguments than PyTorch`);
  if (!Array.isArray(args)) throw wrong();
  const given: readonly PickledValue[] = args;
  switch (called.name) {
    case "OrderedDict":
      if (given.length > 0) throw wrong();
      return new PickledDict();
    case "_rebuild_parameter": {
      const [value, requiresGrad, hooks] = given;
      if (given.length !== 3 || !isTensor(value) || typeof requiresGrad !== "boolean") throw wrong();
      if (!isEmptyDict(hooks)) throw faults.unsupported("has a parameter with hooks");
      return value;
    }
    default:
      return rebuildTensor(given, called.name === "_rebuild_tensor_v3", faults, wrong);
  }
}

/**
 * Makes a tensor from the arguments of `_rebuild_tensor_v2` or `_rebuild_tensor_v3`: storage, offset, shape, strides, whether
 * the tensor needs gradients, hooks, its type (only v3) and optional metadata.
 */
function rebuildTensor(
  args: readonly PickledValue[],
  isTyped: boolean,
  faults: FileFaults,
  wrong: () => Error,
): PickledTensor {
  const [storage, offset, shape, strides, requiresGrad, hooks, ...rest] = args;
  const type = isTyped ? rest.shift() : undefined;
  if (!isStorage(storage) || !isCount(offset) || !areCounts(shape) || !areCounts(strides)) throw wrong();
  if (shape.length !== strides.length || typeof requiresGrad !== "boolean" || rest.length > 1) throw wrong();
  // A tensor has the type of its storage. Only a tensor of an untyped storage names its own type.
  const dtype = isDtype(type) ? type.dtype : storage.dtype;
  if (dtype === undefined || isTyped !== (storage.dtype === undefined)) throw wrong();
  if (!isEmptyDict(hooks)) throw faults.unsupported("has a tensor with hooks");
  if (rest.some((metadata) => metadata !== null)) {
    throw faults.unsupported("has a tensor with metadata, such as a negative view of another tensor");
  }
  return { kind: "tensor", storage, dtype, offset, shape, strides };
}

/**
 * Returns the storage that a persistent id names: `("storage", type, key, device, length)`.
 *
 * @throws the error that `faults` makes, for any other id
 */
export function storageOf(id: PickledValue, faults: FileFaults): PickledStorage {
  const [name, type, key, device, length, ...rest] = Array.isArray(id) ? (id as PickledValue[]) : [];
  const isOne = name === "storage" && typeof device === "string" && rest.length === 0;
  if (!isOne || !isStorageType(type) || typeof key !== "string" || !isCount(length)) {
    throw faults.invalid("its pickle has a persistent id that is not a storage");
  }
  return { kind: "storage", dtype: type.dtype, key, length };
}

const isCount = (value: PickledValue | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const areCounts = (value: PickledValue | undefined): value is readonly number[] =>
  Array.isArray(value) && value.length <= MAX_AXES && value.every(isCount);

const isEmptyDict = (value: PickledValue | undefined): boolean =>
  value === null || (value instanceof PickledDict && value.size === 0);
