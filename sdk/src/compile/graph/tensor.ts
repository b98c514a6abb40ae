import { BertEdgeError } from "../../artifact/error.ts";
import { LARGE_BYTES, release } from "../files/large-buffers.ts";

/** Bytes an element takes, by ONNX's names of the types. */
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
 * A constant: row-major little-endian bytes. The bytes are a view wherever possible, or come from a file or a computation at
 * each access (`lazyTensor`); nobody writes into them.
 */
export interface Tensor {
  readonly dtype: DataType;
  readonly shape: readonly number[];
  readonly data: Uint8Array<ArrayBuffer>;
}

type NumberArray = Float32Array | Float16Array | Int32Array | Int8Array | Uint8Array | BigInt64Array;

/** A tensor over the bytes of `values`, which are not copied. */
export function tensor(dtype: DataType, shape: readonly number[], values: NumberArray): Tensor {
  const data = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
  if (data.length !== byteLength({ dtype, shape })) {
    throw new BertEdgeError("tensor_shape", `${dtype}[${shape}] does not hold ${data.length} bytes.`);
  }
  return { dtype, shape, data };
}

const lazy = new WeakSet<Tensor>();

/**
 * A tensor whose bytes are computed once if they are few; large ones each time they are read, to take up no room in between.
 *
 * @param compute gives bytes in a buffer that nothing else has
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

/** Whether a tensor's bytes are made for whoever reads them, and theirs. */
export const isLazy = (value: Tensor): boolean => lazy.has(value);

/** What `use` makes of a tensor in memory. What is in memory for that alone goes after it, so no view of it may leave. */
export function reading<T>(value: Tensor, use: (inMemory: Tensor) => T): T {
  const { dtype, shape, data } = value;
  try {
    return use({ dtype, shape, data });
  } finally {
    if (isLazy(value)) release(data);
  }
}

/** The same elements in the same order in another shape. */
export const reshaped = (value: Tensor, shape: readonly number[]): Tensor =>
  isLazy(value) ? lazyTensor(value.dtype, shape, () => value.data) : { ...value, shape };

export const elementCount = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

/** Bytes that a tensor takes; `data.length` would read them. */
export const byteLength = ({ dtype, shape }: Pick<Tensor, "dtype" | "shape">): number =>
  elementCount(shape) * elementSize[dtype];

export const int64s = (...values: number[]): Tensor =>
  tensor("int64", [values.length], BigInt64Array.from(values, BigInt));

export const float32Scalar = (value: number): Tensor => tensor("float32", [], Float32Array.of(value));

/** The tensor's values as float32: a view when they are (and are aligned), a converted copy when they are halves. */
export function toFloat32({ dtype, data }: Tensor): Float32Array<ArrayBuffer> {
  // Not data.slice(): what Node reads from files is a Buffer, whose slice is a view.
  const aligned = data.byteOffset % elementSize[dtype] === 0 ? data : new Uint8Array(data);
  const count = data.length / elementSize[dtype];
  switch (dtype) {
    case "float32":
      return new Float32Array(aligned.buffer, aligned.byteOffset, count);
    case "float16":
      return Float32Array.from(new Float16Array(aligned.buffer, aligned.byteOffset, count));
    case "bfloat16": {
      const upper = new Uint16Array(aligned.buffer, aligned.byteOffset, count);
      return new Float32Array(Uint32Array.from(upper, (bits) => bits << 16).buffer);
    }
    default:
      throw new BertEdgeError("tensor_dtype", `Weights of type ${dtype} cannot be read as numbers of a network.`, {
        hint: "Save the checkpoint in float32, float16 or bfloat16.",
      });
  }
}

const readers: { readonly [T in DataType]?: (view: DataView, at: number) => number } = {
  float64: (view, at) => view.getFloat64(at, true),
  float32: (view, at) => view.getFloat32(at, true),
  float16: (view, at) => view.getFloat16(at, true),
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
 * The elements of a small tensor of any numeric type, booleans as 0 and 1. 64-bit integers beyond 2⁵³ are rounded, which
 * changes none of the sentinels ("to the end") that they are used as.
 */
export function numbersOf({ dtype, shape, data }: Tensor): number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const read = readers[dtype];
  if (!read) return [...toFloat32({ dtype, shape, data })];
  return Array.from({ length: elementCount(shape) }, (_, i) => read(view, i * elementSize[dtype]));
}

/** True for types whose values are exact whole numbers or truth values. */
export const isInteger = (dtype: DataType | undefined): boolean => dtype !== undefined && !dtype.includes("float");
