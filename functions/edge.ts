import { wasmEngine } from "bert-edge/engine/wasm";
import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { createEdgeApp } from "bert-edge/serve";
import { settings } from "./edge-settings.ts";

/** The Worker of wrangler.toml. It is a Hono app, to which you can add routes. Its `queue` handles jobs. */
const app = createEdgeApp({ ...settings, engine: wasmEngine({ relaxed, simd }) });

export default app;
