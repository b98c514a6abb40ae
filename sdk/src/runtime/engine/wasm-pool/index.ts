import type { Engine } from "../engine.ts";
import { type PoolEngineOptions, poolEngine } from "./pool-engine.ts";
import { webThread } from "./web-thread.ts";

export type { Engine } from "../engine.ts";
export type { KernelModules } from "../wasm/index.ts";

/** Creates the WebAssembly engine with several threads, for runtimes with Web Workers: Deno, browsers. */
export const wasmPoolEngine = (options: PoolEngineOptions): Engine => poolEngine(options, webThread);

export type { PoolEngineOptions };
