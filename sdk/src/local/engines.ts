import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Target } from "../artifact/manifest.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { ortNodeEngine } from "../runtime/engine/ort-node/index.ts";
import { onnxruntimeNode } from "../runtime/engine/ort-node/onnxruntime-node.ts";
import { ortWebEngine } from "../runtime/engine/ort-web/index.ts";
import { onnxruntimeWeb } from "../runtime/engine/ort-web/onnxruntime-web.ts";
import { wasmEngine } from "../runtime/engine/wasm/index.ts";

const compiled = async (file: string | URL): Promise<WebAssembly.Module> => WebAssembly.compile(await readFile(file));
const kernels = (build: string) => compiled(new URL(`../../dist/kernels/${build}.wasm`, import.meta.url));

const engines: Record<Target["engine"], () => Promise<Engine>> = {
  wasm: async () => wasmEngine({ relaxed: await kernels("relaxed"), simd: await kernels("simd") }),
  "ort-web": async () => {
    await onnxruntimeWeb();
    const file = createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
    return ortWebEngine({ wasm: await compiled(file) });
  },
  "ort-node": async () => {
    await onnxruntimeNode();
    // Also runs fp16 models, which are made for GPUs. They run slowly on the CPU.
    return ortNodeEngine({ threads: 1 });
  },
};

/**
 * Returns an engine that runs in this process on one CPU thread, as in an edge isolate.
 *
 * @throws BertEdgeError `package_missing` if the engine's package is not installed
 */
export const engineOnThisMachine = async (name: Target["engine"]): Promise<Engine> => engines[name]();
