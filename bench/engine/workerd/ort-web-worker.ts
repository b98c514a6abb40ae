import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm";
import { ortWebEngine } from "#sdk/runtime/engine/ort-web/index.ts";
import { edgeWorker } from "./edge-worker.ts";

export default edgeWorker(ortWebEngine({ wasm }));
