import { shown } from "../../../artifact/shown.ts";
import type { FileFaults } from "../../files/file-faults.ts";
import type { StoredFile } from "../../files/stored-file.ts";
import { elementCount, elementSize, lazyTensor, type Tensor } from "../../graph/tensor.ts";
import type { TorchArchive } from "./archive.ts";
import { extentOf, gather, isContiguous } from "./gather.ts";
import type { PickledTensor } from "./values.ts";

/**
 * Makes tensors that are read from the file. Views that are equal are one tensor, as in models with tied weights. All tensors
 * together need no more bytes than the file has.
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
    // An expanded tensor repeats numbers. It can be larger than the file by any factor. NaN is more than the file has, too.
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
