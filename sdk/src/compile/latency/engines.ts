import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Target } from "../../artifact/manifest.ts";
import type { Engine } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { ortWebEngine } from "../../runtime/engine/ort-web/index.ts";
import { wasmEngine } from "../../runtime/engine/wasm/index.ts";

const compiled = async (file: string | URL): Promise<WebAssembly.Module> => WebAssembly.compile(await readFile(file));
const kernels = (build: string) => compiled(new URL(`../../../dist/kernels/${build}.wasm`, import.meta.url));

const engines: Record<Target["engine"], () => Engine | Promise<Engine>> = {
  wasm: async () => wasmEngine({ relaxed: await kernels("relaxed"), simd: await kernels("simd") }),
  "ort-web": async () => {
    const file = createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
    return ortWebEngine({ wasm: await compiled(file) });
  },
  // fp16 models run without a GPU too, only slowly.
  "ort-node": () => ortNodeEngine({ threads: 1 }),
};

/** An engine in this process, on one thread of the CPU: edges' engines as an isolate runs them. */
export const engineOnThisMachine = async (name: Target["engine"]): Promise<Engine> => engines[name]();
