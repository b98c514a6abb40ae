import type { Engine } from "../engine.ts";
import { type PoolEngineOptions, poolEngine } from "./pool-engine.ts";
import { webThread } from "./web-thread.ts";

/** The WebAssembly engine on several threads, in runtimes with Web Workers: Deno, Bun, browsers. */
export const wasmPoolEngine = (options: PoolEngineOptions): Engine => poolEngine(options, webThread);

export type { PoolEngineOptions };
