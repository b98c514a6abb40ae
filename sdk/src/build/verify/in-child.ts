import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BertEdgeError } from "../../artifact/error.ts";

/** Models of the size that fits a single file take seconds; this is for work that hangs. */
const DEADLINE_MS = 10 * 60_000;

type Answer<T> =
  | { readonly result: T }
  | { readonly code: string; readonly message: string; readonly hint?: string | undefined };

/**
 * Runs a script in a process of its own: sessions take several times a model's size, and a crash of native code must not
 * take the caller along.
 *
 * @param script which ends in `answer`
 * @throws BertEdgeError `parity_failed`, or what the script throws
 */
export function inChild<T>(script: URL, args: readonly string[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(script), args, {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // As JSON, NaN and infinite figures would become null, which no limit refuses.
      serialization: "advanced",
    });
    const failed = (why: string) =>
      reject(
        new BertEdgeError("parity_failed", `The models could not be compared: ${why}.`, { hint: lastWords.trim() }),
      );
    let lastWords = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      lastWords = `${lastWords}${bytes}`.slice(-2000);
    });
    const deadline = setTimeout(() => {
      child.kill("SIGKILL");
      failed(`it took more than ${DEADLINE_MS / 60_000} minutes`);
    }, DEADLINE_MS);
    child.once("message", (message: Answer<T>) => {
      if ("result" in message) resolve(message.result);
      else reject(new BertEdgeError(message.code, message.message, message));
    });
    child.once("error", (cause) => failed(cause.message));
    child.once("close", (code, signal) => {
      clearTimeout(deadline);
      failed(`the process ended with ${signal ?? code}`);
    });
  });
}

/** Sends a script's result, or what it threw, to the process that started it. */
export async function answer<T>(work: Promise<T>): Promise<void> {
  const message: Answer<T> = await work.then(
    (result) => ({ result }),
    (error: unknown) =>
      error instanceof BertEdgeError
        ? { code: error.code, message: error.message, hint: error.hint }
        : { code: "parity_failed", message: error instanceof Error ? error.message : String(error) },
  );
  process.send?.(message, () => process.disconnect?.());
}
