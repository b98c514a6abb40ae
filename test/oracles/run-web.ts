import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import * as ort from "onnxruntime-web/wasm";
import { placeholder, withCompiledModule } from "#sdk/runtime/engine/ort-web/compiled-module.ts";
import type { Tensors } from "./run-model.ts";

/** Runs a model file on `feeds` with onnxruntime's WebAssembly build. */
export async function runWeb(model: Uint8Array, feeds: Tensors): Promise<Tensors> {
  const path = createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = placeholder;
  const create = () => ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
  const session = await withCompiledModule(await WebAssembly.compile(await readFile(path)), create);
  const own = Object.entries(feeds).map(([name, { type, data, dims }]) => [
    name,
    new ort.Tensor(type as "float32", data as Float32Array, dims),
  ]);
  try {
    return (await session.run(Object.fromEntries(own))) as unknown as Tensors;
  } finally {
    await session.release();
  }
}
