import { ortWebEngine } from "bert-edge/engine/ort-web";
import { createEdgeApp } from "bert-edge/serve";
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm";
import { settings } from "./edge-settings.ts";

/** Worker for models that were prepared for onnxruntime-web. Deploy it with `wrangler deploy functions/edge-ort-web.ts`. */
export default createEdgeApp({ ...settings, engine: ortWebEngine({ wasm }) });
