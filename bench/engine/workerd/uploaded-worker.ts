import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { wasmEngine } from "#sdk/runtime/engine/wasm/index.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { edgeWorker } from "./edge-worker.ts";
// The benchmark adds this module: objects of the model's store, by key.
import objects from "./objects.js";

const bytes = new Map(Object.entries(objects).map(([key, data]) => [key, new Uint8Array(data)]));

export default edgeWorker(wasmEngine({ relaxed, simd }), memoryStore(bytes));
