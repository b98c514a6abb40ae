import type { Engine } from "../engine.ts";
import { allocate } from "./allocate.ts";
import { checkProgram } from "./check-program.ts";
import { instantiate } from "./kernels.ts";
import { MODEL } from "./memory-map.ts";
import { readModelFile } from "./model-file.ts";
import { hasRelaxedSimd } from "./relaxed-simd.ts";
import { releasable } from "./releasable.ts";
import { createSession } from "./session.ts";

/** The kernels as compiled modules: Workers import WebAssembly so, and refuse to compile bytes. */
export interface KernelModules {
  /** `bert-edge/kernels/relaxed.wasm`; may be left out. */
  readonly relaxed?: WebAssembly.Module;
  /** `bert-edge/kernels/simd.wasm`, for runtimes without relaxed SIMD: the same results, more slowly. */
  readonly simd: WebAssembly.Module;
}

/** Our own engine: BERT-family encoders in integers, on the CPU of any runtime with WebAssembly SIMD. */
export function wasmEngine({ relaxed, simd }: KernelModules): Engine {
  return {
    name: "wasm",
    /** @throws BertEdgeError `memory_full`, `model_invalid`, `model_version`, or what reading throws */
    async load(source) {
      const size = source.size("edge");
      const memory = allocate(MODEL + size);
      await source.readInto("edge", new Uint8Array(memory.buffer, MODEL, size));
      const file = readModelFile(new Uint8Array(memory.buffer, MODEL, size));
      checkProgram(file);
      const kernels = instantiate(relaxed && hasRelaxedSimd() ? relaxed : simd, memory);
      return releasable(createSession(memory, kernels, file, MODEL + size));
    },
  };
}

export { hasRelaxedSimd };
