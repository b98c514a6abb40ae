import type { Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { fastGelu, gelu, relu, sigmoid, sigmoidUnit, tanh } from "./activations.ts";
import { addRows } from "./add-rows.ts";
import { attention } from "./attention.ts";
import { dense } from "./dense.ts";
import { gate } from "./gate.ts";
import type { KernelCase } from "./kernel-case.ts";
import { layerNorm } from "./layer-norm.ts";
import { lookupInt4, lookupInt8 } from "./lookup.ts";
import { multiply } from "./multiply.ts";
import { normalize } from "./normalize.ts";
import { poolMax, poolMean } from "./pool.ts";
import { quantizeRows } from "./quantize-rows.ts";
import { rotate } from "./rotate.ts";

/** What computes nothing: attention's case asks it for its scratch. */
export const SIZE = "attentionScratch";

export type KernelName = Exclude<keyof Kernels, typeof SIZE>;

/** Every kernel, once: tests and benchmarks go through this table. */
export const kernelTable: Readonly<Record<KernelName, KernelCase<unknown>>> = {
  lookupInt8,
  lookupInt4,
  quantizeRows,
  multiply,
  layerNorm,
  addRows,
  gate,
  gelu,
  fastGelu,
  relu,
  tanh,
  sigmoid,
  sigmoidUnit,
  rotate,
  attention,
  dense,
  poolMean,
  poolMax,
  normalize,
};
