import type { Engine } from "../engine.ts";
import type { KernelModules } from "../wasm/index.ts";
import { readModelFile } from "../wasm/load/model-file.ts";
import { releasable } from "../wasm/load/releasable.ts";
import { openPool } from "./pool.ts";
import type { Spawn } from "./thread.ts";
import { threadSession } from "./thread-session.ts";

export interface PoolEngineOptions extends KernelModules {
  /** Number of threads. Each has its own copy of the model. Default: one per core. */
  threads?: number;
}

/**
 * The WebAssembly engine on several threads. The model file is read once; every thread copies it, also a thread that replaces
 * another later. Where a browser has no shared memory, every thread is sent a copy.
 */
export function poolEngine(
  { threads = navigator.hardwareConcurrency, ...kernels }: PoolEngineOptions,
  spawn: Spawn,
): Engine {
  return {
    name: "wasm",
    async load(source) {
      const model = shared(await source.read("edge"));
      const { program } = readModelFile(model);
      const open = () => threadSession(spawn, { kernels, model });
      return releasable(await openPool({ size: threads, open, program }));
    },
  };
}

/** Copies the file to shared memory, which threads read without a copy of their own. Hashes cannot read shared bytes. */
function shared(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  if (typeof SharedArrayBuffer === "undefined") return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
