import { ortWebEngine } from "bert-edge/engine/ort-web";
import { createEdgeApp } from "bert-edge/serve";
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm";
import { settings } from "./edge-settings.ts";

/** The Worker for models that `prepare` made for onnxruntime-web: `wrangler deploy functions/edge-ort-web.ts`. */
export default createEdgeApp({ ...settings, engine: ortWebEngine({ wasm }) });
