import type { Engine } from "../../engine.ts";
import { type PoolEngineOptions, poolEngine } from "../pool-engine.ts";
import { nodeThread } from "./node-thread.ts";

/** The WebAssembly engine on several threads of Node. */
export const wasmPoolEngine = (options: PoolEngineOptions): Engine => poolEngine(options, nodeThread());

export type { PoolEngineOptions };
