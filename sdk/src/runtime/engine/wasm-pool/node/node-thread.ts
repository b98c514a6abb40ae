import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Spawn } from "../thread.ts";

/** Starts a Node thread. The thread keeps the process alive only while it performs a task. */
export const nodeThread =
  (script = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)): Spawn =>
  ({ answered, ended }) => {
    const worker = new Worker(script);
    worker.unref();
    worker.on("message", (answer) => {
      worker.unref();
      answered(answer);
    });
    worker.on("messageerror", ended);
    worker.on("error", ended);
    worker.on("exit", (code) => ended(`exit code ${code}`));
    return {
      post(task) {
        worker.ref();
        worker.postMessage(task);
      },
      async end() {
        await worker.terminate();
      },
    };
  };
