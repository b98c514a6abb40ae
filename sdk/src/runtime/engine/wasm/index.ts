import { LENGTH_BYTES } from "../../../artifact/safetensors.ts";
import type { Engine } from "../engine.ts";
import { MODEL } from "./constants/memory.ts";
import { answeringEarly } from "./load/answering-early.ts";
import { arriving } from "./load/arrival.ts";
import { assertFinite } from "./load/assert-finite.ts";
import { neededBytes } from "./load/needed-bytes.ts";
import { parseProgram } from "./load/parse-program.ts";
import { placeFile } from "./load/place-file.ts";
import { hasRelaxedSimd } from "./load/relaxed-simd.ts";
import { releasable } from "./load/releasable.ts";
import { allocate } from "./run/allocate.ts";
import { instantiate } from "./run/kernels.ts";
import { createSession } from "./run/session.ts";

export type { Engine } from "../engine.ts";

/** The kernels as compiled modules. Workers can import such modules, but refuse to compile bytes. */
export interface KernelModules {
  /**
   * `bert-edge/kernels/relaxed.wasm`, for runtimes with relaxed SIMD, a newer set of WebAssembly instructions. Optional.
   */
  readonly relaxed?: WebAssembly.Module;
  /** `bert-edge/kernels/simd.wasm`, for all other runtimes. It computes the same results, but is slower. */
  readonly simd: WebAssembly.Module;
}

/**
 * Creates bert-edge's own engine. It runs BERT-family encoders with int8 weights on the CPU of any runtime with WebAssembly
 * SIMD. Its sessions can run texts before the whole model file is loaded, because only rare tokens need the end of the
 * file.
 */
export function wasmEngine({ relaxed, simd }: KernelModules): Engine {
  return {
    name: "wasm",
    blocksThread: true,
    compilesAsItRuns: true,
    /** @throws BertEdgeError `memory_full`, `model_invalid`, `model_version`, and the errors of reading */
    async load(source) {
      const size = source.size("edge");
      const memory = allocate(MODEL + size);
      const kernels = instantiate(relaxed && hasRelaxedSimd() ? relaxed : simd, memory);
      const { bytes, arrived, headerEnd, file } = placeFile(memory, kernels, size);
      const arrival = arriving((progress) => source.readInto("edge", { bytes, ...progress }), arrived);
      try {
        await arrival.reach(LENGTH_BYTES);
        await arrival.reach(headerEnd());
        const program = parseProgram(file());
        const session = createSession(memory, kernels, program, size, (begin, end) =>
          source.readPages("edge", begin, end),
        );
        const begun = arrival.reach(neededBytes(program, 0)).then(() => {
          assertFinite(bytes(), program);
          session.begin();
        });
        const early = answeringEarly(session, { arrival, begun }, program);
        // Pages of rare tokens are read while the layers arrive.
        if (!session.pageReads) await begun;
        return releasable(early);
      } catch (error) {
        arrival.stop(error);
        throw error;
      }
    },
  };
}

export { hasRelaxedSimd };
