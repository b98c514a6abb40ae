import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Spawn } from "./thread.ts";

/** Starts a Node thread. The thread keeps the process alive only while it performs a task. */
export const nodeThread =
  <Task, Answer>(script: string | URL, options?: WorkerOptions): Spawn<Task, Answer> =>
  ({ answered, ended }) => {
    const worker = new Worker(script, options);
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
