import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { abortedError, throwIfAborted } from "./aborted.ts";
import type { Answer, Call, ProgressMessage } from "./messages.ts";

export interface SubprocessOptions {
  /**
   * Code of the error if the subprocess ends without an answer, or if the function throws anything but a BertEdgeError.
   */
  readonly failure: ErrorCode;
  /**
   * The message of an error with the code `failure` begins with this text, such as "The models could not be compared".
   */
  readonly what: string;
  /** Time after which the subprocess is killed. */
  readonly deadlineMs: number;
  /** The subprocess is killed when this signal aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the function calls `reportProgress`. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Wraps an exported function so that it runs in a subprocess. An engine's session takes several times the model's
 * memory; the memory is free again when the subprocess ends. A crash of native code ends only the subprocess. Arguments
 * and result are copied (structured clone).
 *
 *     inSubprocess(import.meta.url, modelParity, options)(original, rewritten)
 *
 * @param module URL of the module that exports the function under the function's own name
 * @throws BertEdgeError (when the returned function runs) the errors of the function, `options.failure`, `aborted`
 */
export const inSubprocess =
  <Args extends readonly unknown[], Result>(
    module: string,
    { name }: (...args: Args) => Result,
    options: SubprocessOptions,
  ): ((...args: Args) => Promise<Awaited<Result>>) =>
  (...args) =>
    runInSubprocess({ module, name, args }, options);

/**
 * Calls an exported function of a module in a subprocess. Unlike `inSubprocess`, the caller does not need to import the
 * module.
 *
 * @throws BertEdgeError the errors of the function, `failure`, `aborted`
 */
export async function runInSubprocess<T>(
  call: Call,
  { failure, what, deadlineMs, signal, onProgress }: SubprocessOptions,
): Promise<T> {
  throwIfAborted(signal);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const subprocess = fork(fileURLToPath(entry), {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // JSON would turn NaN and infinite numbers into null.
    serialization: "advanced",
  });
  const failed = (why: string) => new BertEdgeError(failure, `${what}: ${why}.`, { hint: lastWords.trim() });
  let stoppedBy: BertEdgeError | undefined;
  const stop = (error: BertEdgeError) => {
    stoppedBy ??= error;
    subprocess.kill("SIGKILL");
  };
  let lastWords = "";
  subprocess.stderr?.on("data", (bytes: Buffer) => {
    lastWords = `${lastWords}${bytes}`.slice(-2000);
  });
  const late = () => stop(failed(`it took more than ${deadlineMs / 60_000} minutes`));
  const deadline = setTimeout(late, deadlineMs);
  const onAbort = () => stop(abortedError(signal as AbortSignal));
  signal?.addEventListener("abort", onAbort, { once: true });
  subprocess.on("message", (answer: Answer<T> | ProgressMessage) => {
    if ("progress" in answer) onProgress?.(answer.progress);
    else if ("result" in answer) resolve(answer.result);
    else reject("code" in answer ? errorOf(answer) : failed(answer.message));
  });
  subprocess.once("error", (cause) => reject(failed(cause.message)));
  // A stopped call rejects only after "close", so that the subprocess cannot write files after the caller has removed
  // them.
  subprocess.once("close", (code, killedBy) => {
    clearTimeout(deadline);
    signal?.removeEventListener("abort", onAbort);
    reject(stoppedBy ?? failed(`the subprocess ended with ${killedBy ?? code}`));
  });
  try {
    // The callback ignores errors. If the subprocess ends before it reads the call, "close" reports this.
    subprocess.send(call, () => {});
  } catch (cause) {
    stop(failed(`the arguments cannot be sent to the subprocess: ${(cause as Error).message}`));
  }
  return promise;
}

const entry = new URL(`./entry${extname(import.meta.url)}`, import.meta.url);

function errorOf({ code, message, hint, cause }: Extract<Answer<never>, { code: string }>): BertEdgeError {
  return new BertEdgeError(code, message, { hint, ...(cause !== undefined && { cause: new Error(cause) }) });
}
