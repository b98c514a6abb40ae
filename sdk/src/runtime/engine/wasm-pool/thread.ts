import type { ErrorCode } from "../../../artifact/error-codes.ts";
import type { TokenIds, VectorHead } from "../engine.ts";
import type { KernelModules } from "../wasm/index.ts";

/** What a thread is asked for: first a model file to load, then sequences to run, one task at a time. */
export type Task =
  | { readonly kernels: KernelModules; readonly model: Uint8Array }
  | { readonly sequences: readonly TokenIds[]; readonly head: VectorHead | undefined };

/** What it says to each. */
export type Answer =
  | { readonly results: readonly Float32Array<ArrayBuffer>[]; readonly memoryBytes: number | undefined }
  | { readonly error: ErrorParts };

/** Classes do not cross threads. */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
}

interface Thread {
  post(task: Task): void;
  end(): Promise<void>;
}

interface Listener {
  answered(answer: Answer): void;
  /** It has ended, and says no more. */
  ended(cause: unknown): void;
}

/** Starts a thread that runs `answering`. */
export type Spawn = (listener: Listener) => Thread;
