import type { Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { fastGeluF32, geluF32, reluF32, sigmoidF32, swishF32, tanhF32 } from "./activations.ts";
import { addRowsF32 } from "./add-rows.ts";
import { attentionInt8 } from "./attention.ts";
import { expandInt4 } from "./expand.ts";
import { gemmInt8 } from "./gemm.ts";
import { gemvF32 } from "./gemv.ts";
import type { KernelCase } from "./kernel-case.ts";
import { layerNormF32, rmsNormF32 } from "./layer-norm.ts";
import { lookupInt4, lookupInt8 } from "./lookup.ts";
import { multiplyF32 } from "./multiply.ts";
import { normalizeF32 } from "./normalize.ts";
import { poolMaxF32, poolMeanF32 } from "./pool.ts";
import { positionBiasesF32 } from "./position-biases.ts";
import { quantizeColumnsInt8, quantizeRowsInt8 } from "./quantize-rows.ts";
import { rotateF32 } from "./rotate.ts";

/** Name of an exported function that is not a kernel. It returns the size of attention's scratch memory in bytes. */
export const SCRATCH_SIZE = "attentionScratch";

export type KernelName = Exclude<keyof Kernels, typeof SCRATCH_SIZE>;

/** Every kernel, for tests and benchmarks. */
export const kernelTable: Readonly<Record<KernelName, KernelCase<unknown>>> = {
  lookupInt8,
  lookupInt4,
  expandInt4,
  quantizeRowsInt8,
  quantizeColumnsInt8,
  positionBiasesF32,
  gemmInt8,
  layerNormF32,
  rmsNormF32,
  addRowsF32,
  multiplyF32,
  geluF32,
  fastGeluF32,
  reluF32,
  tanhF32,
  sigmoidF32,
  swishF32,
  rotateF32,
  attentionInt8,
  gemvF32,
  poolMeanF32,
  poolMaxF32,
  normalizeF32,
};
