import { shown } from "../../../artifact/shown.ts";
import type { FileFaults, StoredFile } from "../../files/stored-file.ts";
import { elementCount, elementSize, lazyTensor, type Tensor } from "../../graph/tensor.ts";
import type { TorchArchive } from "./archive.ts";
import type { PickledTensor } from "./values.ts";

/**
 * Makes tensors whose bytes come from the file. Equal views become one tensor, as in models with tied weights.
 * Refuses tensors that together need more bytes than the file has.
 */
export class StoredTensors {
  readonly #file: StoredFile;
  readonly #locate: TorchArchive["locate"];
  readonly #faults: FileFaults;
  readonly #made = new Map<string, Tensor>();
  #bytes = 0;

  constructor(file: StoredFile, locate: TorchArchive["locate"], faults: FileFaults) {
    this.#file = file;
    this.#locate = locate;
    this.#faults = faults;
  }

  /** @throws the error that `faults` makes, when the tensor does not lie in its storage */
  make(name: string, tensor: PickledTensor): Tensor {
    const { storage, dtype, offset, shape, strides } = tensor;
    const label = shown(name).slice(1, -1);
    const size = elementSize[dtype];
    const { begin, end } = this.#locate(storage.key);
    const bytes = storage.dtype === undefined ? storage.length : storage.length * elementSize[storage.dtype];
    if (bytes !== end - begin) {
      throw this.#faults.invalid(`tensor ${label} has a storage of ${bytes} bytes, and its entry has ${end - begin}`);
    }
    const [first, extent] = [begin + offset * size, extentOf(tensor) * size];
    if (first + extent > end) throw this.#faults.invalid(`tensor ${label} lies outside its storage`);
    // An expanded tensor repeats numbers, and can be much larger than its storage. The negation also refuses a size of NaN.
    const count = elementCount(shape);
    if (!(count * size <= bytes)) throw this.#faults.unsupported(`has an expanded tensor (${label})`);
    const key = `${begin} ${offset} ${dtype} ${shape} ${strides}`;
    const known = this.#made.get(key);
    if (known) return known;
    this.#bytes += Math.max(count * size, extent);
    if (this.#bytes > this.#file.length) throw this.#faults.unsupported("has tensors that overlap");
    const read = () => this.#file.subarray(first, first + extent);
    const made = lazyTensor(dtype, shape, isContiguous(tensor) ? read : () => gather(read(), size, tensor));
    this.#made.set(key, made);
    return made;
  }
}

/** Shape of a tensor, and the distances of its elements in a storage, counted in elements. */
export interface StridedView {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** Whether the elements lie one after the other, in row-major order. */
export function isContiguous({ shape, strides }: StridedView): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] as number;
    if (size !== 1 && strides[axis] !== expected) return false;
    expected *= size;
  }
  return true;
}

/** Returns the number of elements from the first one to the last one in the storage. */
export const extentOf = ({ shape, strides }: StridedView): number =>
  shape.includes(0) ? 0 : shape.reduce((extent, size, axis) => extent + (size - 1) * (strides[axis] as number), 1);

const arrays: Readonly<
  Record<number, typeof Uint8Array | typeof Uint16Array | typeof Uint32Array | typeof BigUint64Array>
> = {
  1: Uint8Array,
  2: Uint16Array,
  4: Uint32Array,
  8: BigUint64Array,
};

/**
 * Copies the elements of a view into row-major order.
 *
 * @param source begins with the first element of the view, at an address that is a multiple of the element size
 * @param size bytes per element
 */
export function gather(source: Uint8Array<ArrayBuffer>, size: number, view: StridedView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = source;
  const Elements = arrays[size] as typeof Uint8Array;
  const from = new Elements(buffer, byteOffset, length / size);
  const to = new Elements(elementCount(view.shape));
  // Leaves out axes of size 1, because their strides do not matter.
  const axes = view.shape.flatMap((count, axis) =>
    count === 1 ? [] : [{ count, stride: view.strides[axis] as number }],
  );
  const inner = axes.pop() ?? { count: 1, stride: 0 };
  const indices = axes.map(() => 0);
  for (let at = 0, row = 0; at < to.length; ) {
    for (let i = 0; i < inner.count; i++) to[at++] = from[row + i * inner.stride] as number;
    // Goes to the next row: the last index counts up, and carries over to the one before it.
    for (let axis = axes.length - 1; axis >= 0; axis--) {
      const { count, stride } = axes[axis] as { count: number; stride: number };
      row += stride;
      indices[axis] = (indices[axis] as number) + 1;
      if (indices[axis] !== count) break;
      row -= count * stride;
      indices[axis] = 0;
    }
  }
  return new Uint8Array(to.buffer);
}
