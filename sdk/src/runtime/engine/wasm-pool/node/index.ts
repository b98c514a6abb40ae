import program from "#embedded/pool-thread";
import type { Engine } from "../../engine.ts";
import { nodeThread } from "../../threads/node-thread.ts";
import { type PoolEngineOptions, poolEngine } from "../pool-engine.ts";

export type { Engine } from "../../engine.ts";
export type { KernelModules } from "../../wasm/index.ts";

/**
 * Creates the WebAssembly engine with several Node threads. Their program is text, not a file, so that a bundle needs no second file.
 */
export const wasmPoolEngine = (options: PoolEngineOptions): Engine => poolEngine(options, nodeThread(program));

export type { PoolEngineOptions };
