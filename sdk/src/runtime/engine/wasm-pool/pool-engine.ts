import type { Engine } from "../engine.ts";
import type { KernelModules } from "../wasm/index.ts";
import { readModelFile } from "../wasm/load/model-file.ts";
import { releasable } from "../wasm/load/releasable.ts";
import { shapeOf } from "../wasm/run/shape-of.ts";
import { openPool } from "./pool.ts";
import type { Spawn } from "./thread.ts";
import { threadSession } from "./thread-session.ts";

export interface PoolEngineOptions extends KernelModules {
  /** Number of threads. Each has its own copy of the model. Default: one per core. */
  threads?: number;
}

/**
 * Creates the WebAssembly engine with several threads. The engine reads the model file once and keeps it in shared
 * memory. Every thread copies the file from there, including threads that later replace an ended thread. In browsers
 * without shared memory, the engine sends a copy to every thread.
 */
export function poolEngine(
  { threads = navigator.hardwareConcurrency, ...kernels }: PoolEngineOptions,
  spawn: Spawn,
): Engine {
  return {
    name: "wasm",
    blocksThread: false,
    async load(source) {
      const model = shared(await source.read("edge"));
      const { program } = readModelFile(model);
      const open = () => threadSession(spawn, { kernels, model });
      return releasable({ ...(await openPool({ size: threads, open, program })), shape: shapeOf(program) });
    },
  };
}

/**
 * Copies the file to shared memory, so that threads can read it without receiving a copy. The file was read into unshared
 * memory first, because hash functions do not accept shared memory.
 */
function shared(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  if (typeof SharedArrayBuffer === "undefined") return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
