import type { ErrorCode } from "../../../artifact/error-codes.ts";
import type { TokenIds, VectorHead } from "../engine.ts";
import type { KernelModules } from "../wasm/index.ts";

/** A task of a thread: first a model file to load, then sequences to run, one task at a time. */
export type ThreadTask =
  | { readonly kernels: KernelModules; readonly model: Uint8Array }
  | { readonly sequences: readonly TokenIds[]; readonly head: VectorHead | undefined };

/** The answer to a task. */
export type ThreadAnswer =
  | { readonly results: readonly Float32Array<ArrayBuffer>[]; readonly memoryBytes: number | undefined }
  | { readonly error: ErrorParts };

/** The parts of a BertEdgeError: classes cannot cross threads. */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
}

interface Thread {
  post(task: ThreadTask): void;
  end(): Promise<void>;
}

interface Listener {
  answered(answer: ThreadAnswer): void;
  /** Called when the thread has ended. No answer follows. */
  ended(cause: unknown): void;
}

/** Starts a thread that runs `answering`. */
export type Spawn = (listener: Listener) => Thread;
