import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ModelParity } from "./model-parity.ts";

/** Models of the size that fits a single file are compared in seconds; this is for one that hangs. */
const DEADLINE_MS = 10 * 60_000;

export type ParityAnswer = { readonly parity: ModelParity } | { readonly code: string; readonly message: string };

/**
 * `modelParity` in a process of its own: two sessions of a model take several times its size, and a crash of native code
 * must not take the caller along.
 *
 * @throws BertEdgeError `parity_failed`, or what `modelParity` throws
 */
export function parityInProcess(original: string, rewritten: string): Promise<ModelParity> {
  const script = fileURLToPath(new URL(`./parity-child${extname(import.meta.url)}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = fork(script, [original, rewritten], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
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
    child.once("message", (answer: ParityAnswer) => {
      if ("parity" in answer) resolve(answer.parity);
      else reject(new BertEdgeError(answer.code, answer.message));
    });
    child.once("error", (cause) => failed(cause.message));
    child.once("close", (code, signal) => {
      clearTimeout(deadline);
      failed(`the process ended with ${signal ?? code}`);
    });
  });
}
