import type { SpawnSession } from "./thread-task.ts";

/**
 * Starts a Web Worker. `ended` is not called when a worker closes itself: the Web Worker standard has no event for this.
 */
export const webThread: SpawnSession = ({ answered, ended }) => {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => answered(data);
  worker.onmessageerror = () => ended("its answer could not be read");
  worker.onerror = (event) => {
    event.preventDefault();
    ended(event.message);
  };
  return {
    post: (task) => worker.postMessage(task),
    end: async () => worker.terminate(),
  };
};
