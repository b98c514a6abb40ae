import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { wasmEngine } from "#sdk/runtime/engine/wasm/index.ts";
import { edgeWorker } from "./edge-worker.ts";

export default edgeWorker(wasmEngine({ relaxed, simd }));
