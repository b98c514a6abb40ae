import type { ErrorCode } from "../../../artifact/error-codes.ts";
import type { TokenSequence, VectorHead } from "../engine.ts";
import type { Spawn } from "../threads/thread.ts";
import type { KernelModules } from "../wasm/index.ts";

/** A task of a thread. The first task is a model file to load, with the pages of its token embedding table; all others are sequences to run. */
export type ThreadTask =
  | { readonly kernels: KernelModules; readonly model: Uint8Array; readonly pages: Uint8Array }
  | { readonly sequences: readonly TokenSequence[]; readonly head: VectorHead | undefined };

/** The answer to a task. */
export type ThreadAnswer =
  | { readonly results: readonly Float32Array<ArrayBuffer>[]; readonly memoryBytes: number | undefined }
  | { readonly error: ErrorParts };

/** The fields of a BertEdgeError. A thread sends only the fields, because a sent object loses its class. */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Starts a thread that performs its tasks with `answering`. */
export type SpawnSession = Spawn<ThreadTask, ThreadAnswer>;
