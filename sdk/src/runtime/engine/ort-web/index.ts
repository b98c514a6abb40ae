import { assertFiniteOnnx } from "../assert-finite-onnx.ts";
import { oneByOne } from "../batching.ts";
import type { Engine } from "../engine.ts";
import { engineFailed } from "../engine-error.ts";
import { ortRun } from "../ort-run.ts";
import { inBatches } from "../with-head.ts";
import { ortMemory, placeholder, withCompiledModule } from "./compiled-module.ts";
import { onnxruntimeWeb } from "./onnxruntime-web.ts";

export type { Engine } from "../engine.ts";

/**
 * Creates an engine from onnxruntime-web. It runs on the CPU of any runtime with WebAssembly SIMD. `load` throws
 * `package_missing` if the package is not installed.
 *
 * @param options.wasm `onnxruntime-web/ort-wasm-simd-threaded.wasm` as a compiled module. Workers can import such modules,
 *   but refuse to compile bytes.
 */
export function ortWebEngine({ wasm }: { wasm: WebAssembly.Module }): Engine {
  return {
    name: "ort-web",
    blocksThread: true,
    compilesAsItRuns: true,
    async load(source) {
      const ort = await onnxruntimeWeb();
      const model = await source.read("edge");
      assertFiniteOnnx(model);
      ort.env.wasm.numThreads = 1;
      ort.env.wasm.wasmBinary = placeholder;
      const create = () => ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
      const session = await withCompiledModule(wasm, create).catch((cause: unknown) => {
        throw engineFailed("ort-web", "onnxruntime-web refused it", cause);
      });
      return {
        provider: "wasm",
        target: "edge",
        batches: oneByOne,
        run: inBatches(ortRun({ session, Tensor: ort.Tensor }), oneByOne),
        memoryBytes: () => ortMemory()?.buffer.byteLength,
        release: () => session.release(),
      };
    },
  };
}
