import type { DataType } from "../../graph/tensor.ts";
import type { KnownGlobal } from "./globals.ts";

/** A value of a pickle. No value is more than data. */
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

/** A view of a storage. Nothing is compared with the storage so far. */
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
  /** Undefined while it is empty: a pickle can have an empty dict in each byte. */
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
