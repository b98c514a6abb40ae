import { BertEdgeError } from "../../artifact/error.ts";
import { LARGE_BYTES, release } from "../files/stored-file.ts";
import { fromHalfBits, toHalfBits } from "./float16.ts";

/** Bytes per element of each type. */
export const elementSize = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  float64: 8,
  int64: 8,
  int32: 4,
  int16: 2,
  int8: 1,
  uint64: 8,
  uint32: 4,
  uint16: 2,
  uint8: 1,
  bool: 1,
} as const;
export type DataType = keyof typeof elementSize;

/**
 * A constant tensor with row-major, little-endian bytes, which are never modified. `data` is a view of the file where
 * possible. For a lazy tensor (see `lazyTensor`), each access to `data` reads or computes the bytes.
 */
export interface Tensor {
  readonly dtype: DataType;
  readonly shape: readonly number[];
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Typed array for each element type. float16 is stored as its bits; bfloat16 has no typed array. */
export const typedArrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint64: BigUint64Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const;

/**
 * Wraps the bytes of `values` in a tensor without copying them.
 *
 * @throws BertEdgeError `tensor_shape` if the number of bytes does not fit the shape
 */
export function tensor(dtype: DataType, shape: readonly number[], values: ArrayBufferView): Tensor {
  const data = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
  if (data.length !== byteLength({ dtype, shape })) {
    throw new BertEdgeError(
      "tensor_shape",
      `A tensor ${dtype}[${shape}] needs ${byteLength({ dtype, shape })} bytes, but its data has ${data.length}.`,
    );
  }
  return { dtype, shape, data };
}

const lazy = new WeakSet<Tensor>();

/**
 * Creates a tensor whose bytes come from `compute`. Calls `compute` once for a small tensor. For a large tensor, calls
 * `compute` at each access, to save memory.
 *
 * @param compute returns the bytes in a buffer that nothing else uses
 */
export function lazyTensor(dtype: DataType, shape: readonly number[], compute: () => Uint8Array<ArrayBuffer>): Tensor {
  if (byteLength({ dtype, shape }) < LARGE_BYTES) return { dtype, shape, data: compute() };
  const value = {
    dtype,
    shape,
    get data() {
      return compute();
    },
  };
  lazy.add(value);
  return value;
}

/** Whether a tensor is lazy. Each access to its `data` returns a new buffer, which the caller may modify or free. */
export const isLazy = (value: Tensor): boolean => lazy.has(value);

/**
 * Loads a tensor, calls `use` with it and returns the result of `use`. The result must not be a view of the tensor,
 * because the bytes of a lazy tensor are freed afterwards.
 */
export function reading<T>(value: Tensor, use: (inMemory: Tensor) => T): T {
  const { dtype, shape, data } = value;
  try {
    return use({ dtype, shape, data });
  } finally {
    if (isLazy(value)) release(data);
  }
}

/** Returns a tensor with the same elements in the same order, but with another shape. */
export const reshaped = (value: Tensor, shape: readonly number[]): Tensor =>
  isLazy(value) ? lazyTensor(value.dtype, shape, () => value.data) : { ...value, shape };

export const elementCount = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

/** Returns the size of a tensor in bytes. Unlike `data.length`, it does not load a lazy tensor. */
export const byteLength = ({ dtype, shape }: Pick<Tensor, "dtype" | "shape">): number =>
  elementCount(shape) * elementSize[dtype];

/**
 * Creates a tensor from numbers. Truncates fractions for integer types, and low mantissa bits for bfloat16.
 *
 * @throws BertEdgeError `tensor_shape` if the number of elements does not fit the shape
 */
export function tensorFromNumbers(dtype: DataType, shape: readonly number[], numbers: ArrayLike<number>): Tensor {
  if (dtype === "bfloat16") {
    const bits = new Uint32Array(Float32Array.from(numbers).buffer);
    return tensor(
      dtype,
      shape,
      Uint16Array.from(bits, (word) => word >>> 16),
    );
  }
  if (dtype === "int64" || dtype === "uint64") {
    return tensor(dtype, shape, typedArrays[dtype].from(Array.from(numbers, BigInt)));
  }
  return tensor(dtype, shape, dtype === "float16" ? toHalfBits(numbers) : typedArrays[dtype].from(numbers));
}

export const int64s = (...values: number[]): Tensor =>
  tensor("int64", [values.length], BigInt64Array.from(values, BigInt));

export const float32Scalar = (value: number): Tensor => tensor("float32", [], Float32Array.of(value));

/**
 * Returns the elements as float32. Aligned float32 data is returned as a view, all other data as a copy.
 *
 * @throws BertEdgeError `tensor_dtype` if the type is not float32, float16 or bfloat16
 */
export function toFloat32({ dtype, data }: Tensor): Float32Array<ArrayBuffer> {
  // Copies unaligned data. `data.slice()` would not copy if `data` is a Buffer, the type in which Node reads files.
  const aligned = data.byteOffset % elementSize[dtype] === 0 ? data : new Uint8Array(data);
  const count = data.length / elementSize[dtype];
  switch (dtype) {
    case "float32":
      return new Float32Array(aligned.buffer, aligned.byteOffset, count);
    case "float16":
      return fromHalfBits(new Uint16Array(aligned.buffer, aligned.byteOffset, count));
    case "bfloat16": {
      const upper = new Uint16Array(aligned.buffer, aligned.byteOffset, count);
      return new Float32Array(Uint32Array.from(upper, (bits) => bits << 16).buffer);
    }
    default:
      throw new BertEdgeError("tensor_dtype", `Weights of type ${dtype} cannot be read as floats.`, {
        hint: "Save the checkpoint in float32, float16 or bfloat16.",
      });
  }
}

const readers: { readonly [T in DataType]?: (view: DataView, at: number) => number } = {
  float64: (view, at) => view.getFloat64(at, true),
  float32: (view, at) => view.getFloat32(at, true),
  int64: (view, at) => Number(view.getBigInt64(at, true)),
  uint64: (view, at) => Number(view.getBigUint64(at, true)),
  int32: (view, at) => view.getInt32(at, true),
  uint32: (view, at) => view.getUint32(at, true),
  int16: (view, at) => view.getInt16(at, true),
  uint16: (view, at) => view.getUint16(at, true),
  int8: (view, at) => view.getInt8(at),
  uint8: (view, at) => view.getUint8(at),
  bool: (view, at) => view.getUint8(at),
};

/**
 * Returns the elements of a small tensor of any type as numbers, with booleans as 0 and 1. Rounds 64-bit integers
 * beyond 2⁵³. This does no harm: exporters write such integers only as the end of a slice, to mean "to the end".
 */
export function numbersOf({ dtype, shape, data }: Tensor): number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const read = readers[dtype];
  if (!read) return [...toFloat32({ dtype, shape, data })];
  const [count, size] = [elementCount(shape), elementSize[dtype]];
  const numbers = new Array<number>(count);
  for (let i = 0; i < count; i++) numbers[i] = read(view, i * size);
  return numbers;
}

/** Whether a type's elements are integers or booleans. */
export const isInteger = (dtype: DataType | undefined): boolean => dtype !== undefined && !dtype.includes("float");
