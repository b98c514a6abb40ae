import { BertEdgeError } from "../../../artifact/error.ts";
import { shown } from "../../../artifact/shown.ts";
import { assertOptions } from "../../../artifact/similar-names.ts";
import { totalLength } from "../../../artifact/total-length.ts";
import { inOrder, sequencesOf, together } from "../batching.ts";
import type { Engine, EngineSession } from "../engine.ts";
import { openPool } from "../threads/pool.ts";
import { idsOf } from "../token-sequence.ts";
import type { KernelModules } from "../wasm/index.ts";
import { readModelFile } from "../wasm/load/model-file.ts";
import { releasable } from "../wasm/load/releasable.ts";
import { checkSequences } from "../wasm/run/check-sequences.ts";
import { BATCH_TOKENS } from "../wasm/run/layout.ts";
import type { Program } from "../wasm/run/program.ts";
import { shapeOf } from "../wasm/run/shape-of.ts";
import { type ThreadSession, threadSession } from "./thread-session.ts";
import type { SpawnSession } from "./thread-task.ts";

/** Minimum tokens per batch. Sending smaller batches to another thread is not worth the overhead. */
const MIN_TOKENS = 32;

export interface PoolEngineOptions extends KernelModules {
  /** Number of threads. Each has its own copy of the model. Default: one per core. */
  threads?: number;
}

/**
 * Creates the WebAssembly engine with several threads. The engine reads the model file and its pages once, and keeps both in shared
 * memory. Every thread copies the file from there, including threads that later replace an ended thread. In browsers without shared
 * memory, the engine sends a copy to every thread.
 */
export function poolEngine(options: PoolEngineOptions, spawn: SpawnSession): Engine {
  checkOptions(options);
  const { threads = navigator.hardwareConcurrency, ...kernels } = options;
  return {
    name: "wasm",
    blocksThread: false,
    compilesAsItRuns: true,
    async load(source) {
      const model = shared(await source.read("edge"));
      const { program } = readModelFile(model);
      const pages = shared(await source.readPages("edge", 0, source.pagesSize("edge")));
      const open = () => threadSession(spawn, { kernels, model, pages });
      return releasable({ ...(await pooled(threads, open, program)), shape: shapeOf(program) });
    },
  };
}

/** Maximum number of threads. Each thread holds a copy of the model. */
const MAX_THREADS = 1_024;

/** Checks options, because plain JavaScript can pass any value. Invalid values would make calls wait forever, or end the process. */
function checkOptions(options: unknown): void {
  const given = Object(options) as Record<string, unknown>;
  assertOptions("wasmPoolEngine", given, ["simd", "relaxed", "threads"]);
  const { simd, relaxed, threads } = given;
  const isModule = (value: unknown) => Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
  const invalid = (what: string, hint: string) => new BertEdgeError("setting_invalid", what, { hint });
  if (!isModule(simd) || !(relaxed === undefined || isModule(relaxed))) {
    throw invalid(
      `The option ${isModule(simd) ? "relaxed" : "simd"} of wasmPoolEngine is not a WebAssembly.Module.`,
      "Give a compiled module: await WebAssembly.compile(bytes of bert-edge/kernels/simd.wasm).",
    );
  }
  const isCount = Number.isInteger(threads) && Number(threads) >= 1 && Number(threads) <= MAX_THREADS;
  if (threads === undefined || isCount) return;
  const hint = `Give a whole number from 1 to ${MAX_THREADS}, or leave it out.`;
  throw invalid(`The option threads of wasmPoolEngine is ${shown(threads)}.`, hint);
}

/** Opens several sessions of one model. Returns a session that splits every request into batches for all of them. */
async function pooled(
  threads: number,
  open: () => Promise<ThreadSession>,
  program: Pick<Program, "maxTokens" | "vocabulary" | "pairs">,
): Promise<EngineSession> {
  const pool = await openPool({ size: threads, open });
  return {
    provider: "wasm",
    target: "edge",
    batches: together,
    async run(sequences, head) {
      checkSequences(sequences, program);
      const ids = sequences.map(idsOf);
      const tokens = Math.min(Math.max(Math.ceil(totalLength(ids) / threads), MIN_TOKENS), BATCH_TOKENS);
      const batches = inOrder(tokens)(ids).map((batch) => sequencesOf(sequences, batch));
      return (await pool.run(batches.map((batch) => (session) => session.run(batch, head)))).flat();
    },
    memoryBytes: () => [...pool.members].reduce((sum, member) => sum + (member.memoryBytes() ?? 0), 0),
    release: pool.release,
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
