import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { ownModule } from "../../local/own-module.ts";
import { onInterrupt } from "../files/on-interrupt.ts";
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
  /** Maximum time of a call, in ms. Then the subprocess is killed. */
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
 *     inSubprocess("compile/accuracy/model-parity", modelParity, options)(original, rewritten)
 *
 * @param module path in `src`, without its extension, of the module that exports the function under the function's own name
 * @throws BertEdgeError (when the returned function runs) the errors of the function, `options.failure`, `aborted`, `package_bundled`
 */
export const inSubprocess =
  <Args extends readonly unknown[], Result>(
    module: string,
    { name }: (...args: Args) => Result,
    options: SubprocessOptions,
  ): ((...args: Args) => Promise<Awaited<Result>>) =>
  (...args) =>
    ownCall({ module, name, args }).then((call) => runInSubprocess(call, options));

const ownCall = async ({ module, ...call }: Call): Promise<Call> => ({ ...call, module: ownModule(module).href });

/**
 * Calls an exported function of a module in a subprocess. Unlike `inSubprocess`, the caller does not need to import the
 * module.
 *
 * @throws BertEdgeError the errors of the function, `failure`, `aborted`, `package_bundled`
 */
export async function runInSubprocess<T>(call: Call, options: SubprocessOptions): Promise<T> {
  const subprocess = startSubprocess(options);
  try {
    return await subprocess.call<T>(call);
  } finally {
    subprocess.end();
  }
}

/** A subprocess that makes calls, one at a time. The modules that it imports keep their state between calls. */
export interface Subprocess {
  /** @throws BertEdgeError the errors of the function, `failure`, `aborted` */
  readonly call: <T>(call: Call) => Promise<T>;
  readonly end: () => void;
}

/** @throws BertEdgeError `aborted`, `package_bundled` */
export function startSubprocess({ failure, what, deadlineMs, signal, onProgress }: SubprocessOptions): Subprocess {
  throwIfAborted(signal);
  const ended = Promise.withResolvers<never>();
  // Without a running call, nothing awaits `ended`, and its rejection would be unhandled.
  ended.promise.catch(() => {});
  const subprocess = fork(fileURLToPath(ownModule("compile/subprocess/entry")), {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // JSON would turn NaN and infinite numbers into null.
    serialization: "advanced",
  });
  const failed = (why: string) => new BertEdgeError(failure, `${what}: ${why}.`, { hint: lastWords.trim() });
  // Kills the subprocess at once. While it is busy, it does not notice that its parent has ended.
  const cancel = onInterrupt(() => void subprocess.kill("SIGKILL"));
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
  const onAbort = () => stop(abortedError(signal as AbortSignal));
  signal?.addEventListener("abort", onAbort, { once: true });
  let answered: (answer: Answer<unknown>) => void = () => {};
  subprocess.on("message", (answer: Answer<unknown> | ProgressMessage) => {
    if ("progress" in answer) onProgress?.(answer.progress);
    else answered(answer);
  });
  subprocess.once("error", (cause) => {
    cancel();
    ended.reject(failed(cause.message));
  });
  // A stopped call rejects only after "close", so that the subprocess cannot write files after the caller has removed
  // them.
  subprocess.once("close", (code, killedBy) => {
    cancel();
    signal?.removeEventListener("abort", onAbort);
    ended.reject(stoppedBy ?? failed(`the subprocess ended with ${killedBy ?? code}`));
  });
  return {
    async call<T>(call: Call): Promise<T> {
      const answer = Promise.withResolvers<Answer<unknown>>();
      answered = answer.resolve;
      const deadline = setTimeout(late, deadlineMs);
      try {
        // The callback ignores errors. If the subprocess ends before it reads the call, "close" reports this.
        subprocess.send(call, () => {});
      } catch (cause) {
        stop(failed(`the arguments cannot be sent to the subprocess: ${(cause as Error).message}`));
      }
      try {
        const found = await Promise.race([answer.promise, ended.promise]);
        if ("result" in found) return found.result as T;
        throw "code" in found ? errorOf(found) : failed(found.message);
      } finally {
        clearTimeout(deadline);
      }
    },
    end: () => void subprocess.kill("SIGKILL"),
  };
}

function errorOf({ code, message, hint, cause }: Extract<Answer<never>, { code: string }>): BertEdgeError {
  return new BertEdgeError(code, message, { hint, ...(cause !== undefined && { cause: new Error(cause) }) });
}
