import { wasmEngine } from "bert-edge/engine/wasm";
import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { createEdgeApp } from "bert-edge/serve";
import { settings } from "./edge-settings.ts";

/** The Worker of wrangler.toml. It is a Hono app: to add CORS or other middleware, mount it in your own Hono app. */
export default createEdgeApp({ ...settings, engine: wasmEngine({ relaxed, simd }) });
