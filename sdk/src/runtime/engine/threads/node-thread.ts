import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Spawn } from "./thread.ts";

/**
 * Starts a Node thread. The thread keeps the process alive only while it performs a task.
 *
 * @param program URL of the thread's file, or its source text in CommonJS. A thread with source text inherits no options of the
 *   process, because `--input-type=module` would make Node read the text as an ES module
 */
export const nodeThread =
  <Task, Answer>(program: string | URL, options?: Pick<WorkerOptions, "workerData">): Spawn<Task, Answer> =>
  ({ answered, ended }) => {
    const worker = new Worker(program, {
      ...options,
      ...(typeof program === "string" && { eval: true, execArgv: [] }),
    });
    worker.unref();
    worker.on("message", (answer) => {
      if (isWatchReport(answer)) return;
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

/** Whether a message comes from Node itself: with `--watch`, threads report which files they load. */
const isWatchReport = (message: object): boolean => "watch:require" in message || "watch:import" in message;
