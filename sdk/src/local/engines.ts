import { readFile } from "node:fs/promises";
import type { Target } from "../artifact/manifest.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { ortNodeEngine } from "../runtime/engine/ort-node/index.ts";
import { onnxruntimeNode } from "../runtime/engine/ort-node/onnxruntime-node.ts";
import { ortWebEngine } from "../runtime/engine/ort-web/index.ts";
import { onnxruntimeWeb } from "../runtime/engine/ort-web/onnxruntime-web.ts";
import { edgeEngine } from "./edge-engine.ts";
import { ownModule } from "./own-module.ts";

const engines: Record<Target["engine"], (threads: number) => Promise<Engine>> = {
  wasm: edgeEngine,
  "ort-web": async () => {
    await onnxruntimeWeb();
    // Not imported, because bundlers would treat the result of an imported createRequire as their own `require`, and search for the file.
    const { createRequire } = process.getBuiltinModule("node:module");
    const file = createRequire(ownModule("local/engines")).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
    return ortWebEngine({ wasm: await WebAssembly.compile(await readFile(file)) });
  },
  "ort-node": async (threads) => {
    await onnxruntimeNode();
    // On the CPU, this engine also runs the fp16 models for GPUs, but slowly.
    return ortNodeEngine({ threads });
  },
};

/**
 * Returns an engine that runs in this process.
 *
 * @param threads CPU threads. Default 1, as in an edge isolate. `ort-web` always has one
 * @throws BertEdgeError `package_missing` if the engine's package is not installed, `package_bundled`
 */
export const engineOnThisMachine = async (name: Target["engine"], threads = 1): Promise<Engine> =>
  engines[name](threads);
