import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Target } from "../artifact/manifest.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { wasmEngine } from "../runtime/engine/wasm/index.ts";

const compiled = async (file: string | URL): Promise<WebAssembly.Module> => WebAssembly.compile(await readFile(file));
const kernels = (build: string) => compiled(new URL(`../../dist/kernels/${build}.wasm`, import.meta.url));

// onnxruntime's packages are optional, so they are imported only when their engine is used.
const engines: Record<Target["engine"], () => Promise<Engine>> = {
  wasm: async () => wasmEngine({ relaxed: await kernels("relaxed"), simd: await kernels("simd") }),
  "ort-web": async () => {
    const { ortWebEngine } = await import("../runtime/engine/ort-web/index.ts");
    const file = createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
    return ortWebEngine({ wasm: await compiled(file) });
  },
  "ort-node": async () => {
    const { ortNodeEngine } = await import("../runtime/engine/ort-node/index.ts");
    // Also runs fp16 models, which are made for GPUs. They run slowly on the CPU.
    return ortNodeEngine({ threads: 1 });
  },
};

/** Returns an engine that runs in this process on one CPU thread, as in an edge isolate. */
export const engineOnThisMachine = async (name: Target["engine"]): Promise<Engine> => engines[name]();
