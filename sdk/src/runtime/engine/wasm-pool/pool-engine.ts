import type { Engine } from "../engine.ts";
import type { KernelModules } from "../wasm/index.ts";
import { readModelFile } from "../wasm/load/model-file.ts";
import { releasable } from "../wasm/load/releasable.ts";
import { openPool } from "./pool.ts";
import type { Spawn } from "./thread.ts";
import { threadSession } from "./thread-session.ts";

export interface PoolEngineOptions extends KernelModules {
  /** Each has the model in a memory of its own. Default: one a core. */
  threads?: number;
}

/**
 * The WebAssembly engine on several threads. The model file is read once, into memory that all threads copy theirs from and
 * that stays for those that replace others. Where a browser shares no memory, every thread is sent a copy.
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

/** Sharing spares each thread a copy beside the one in its memory. Hashes are not computed of shared bytes, hence not read so. */
function shared(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  if (typeof SharedArrayBuffer === "undefined") return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
