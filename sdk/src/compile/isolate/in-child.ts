import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";

type Answer<T> =
  | { readonly result: T }
  | { readonly message: string }
  | {
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
      readonly cause: string | undefined;
    };

/** What a child is for. */
export interface Errand {
  /** Code of the error where the child ends without an answer, or with one that is no BertEdgeError. */
  readonly failure: ErrorCode;
  /** What could not be done then, as the beginning of a sentence. */
  readonly what: string;
  /** Until work is taken to hang. */
  readonly deadlineMs: number;
}

/**
 * Runs a script in a process of its own: sessions take several times a model's size, and a crash of native code must not
 * take the caller along.
 *
 * @param script which ends in `answer`
 * @throws BertEdgeError what the script throws, or the errand's `failure`
 */
export function inChild<T>(script: URL, args: readonly string[], { failure, what, deadlineMs }: Errand): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(script), args, {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // As JSON, NaN and infinite figures would become null, which no limit refuses.
      serialization: "advanced",
    });
    const failed = (why: string) => reject(new BertEdgeError(failure, `${what}: ${why}.`, { hint: lastWords.trim() }));
    let lastWords = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      lastWords = `${lastWords}${bytes}`.slice(-2000);
    });
    const deadline = setTimeout(() => {
      child.kill("SIGKILL");
      failed(`it took more than ${deadlineMs / 60_000} minutes`);
    }, deadlineMs);
    child.once("message", (message: Answer<T>) => {
      if ("result" in message) resolve(message.result);
      else if ("code" in message) reject(errorOf(message));
      else failed(message.message);
    });
    child.once("error", (cause) => failed(cause.message));
    child.once("close", (code, signal) => {
      clearTimeout(deadline);
      failed(`the process ended with ${signal ?? code}`);
    });
  });
}

/** Sends a script's result, or what it threw, to the process that started it. Without that process, the script ends. */
export async function answer<T>(work: Promise<T>): Promise<void> {
  const orphaned = () => process.exit(1);
  process.once("disconnect", orphaned);
  const message: Answer<T> = await work.then(
    (result) => ({ result }),
    (error: unknown) =>
      error instanceof BertEdgeError
        ? { code: error.code, message: error.message, hint: error.hint, cause: messageOf(error.cause) }
        : { message: messageOf(error) ?? "nothing" },
  );
  process.removeListener("disconnect", orphaned);
  process.send?.(message, () => process.disconnect?.());
}

const messageOf = (error: unknown): string | undefined =>
  error === undefined ? undefined : error instanceof Error ? error.message : String(error);

const errorOf = ({ code, message, hint, cause }: Extract<Answer<never>, { code: ErrorCode }>): BertEdgeError =>
  new BertEdgeError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause: new Error(cause) }),
  });
