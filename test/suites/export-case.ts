import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import type { Tensors } from "./run-model.ts";

interface StoredTensor {
  readonly dtype: keyof typeof arrays;
  readonly shape: readonly number[];
  readonly data: readonly number[];
}
type StoredTensors = Readonly<Record<string, StoredTensor>>;

/** Fused operators by name; null where nothing is claimed. */
export type Claim = Readonly<Record<string, number | null>>;

/** What a case.json says about the model beside it. */
export interface ExportCase {
  readonly dtype: string;
  readonly inputs: readonly StoredTensors[];
  /** By onnxruntime with all its optimization off, of the model as it was exported. */
  readonly outputs: readonly StoredTensors[];
  readonly expected_fused: Claim | null;
  readonly expected_alt?: readonly Claim[];
}

export const readExportCase = (folder: string): ExportCase =>
  JSON.parse(readFileSync(join(folder, "case.json"), "utf8")) as ExportCase;

const arrays = {
  int64: (data: readonly number[]) => BigInt64Array.from(data, BigInt),
  int32: (data: readonly number[]) => Int32Array.from(data),
  float32: (data: readonly number[]) => Float32Array.from(data),
  float16: (data: readonly number[]) => Float16Array.from(data),
};

export const toTensors = (stored: StoredTensors): Tensors =>
  Object.fromEntries(
    Object.entries(stored).map(([name, { dtype, shape, data }]) => [
      name,
      new ort.Tensor(dtype as "float32", arrays[dtype](data) as Float32Array, shape),
    ]),
  );
