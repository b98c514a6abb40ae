import { BertEdgeError } from "../../../artifact/error.ts";
import type { SpawnSession } from "./thread-task.ts";

/**
 * Starts a Web Worker. `ended` is not called when a worker closes itself: the Web Worker standard has no event for this.
 *
 * @throws BertEdgeError `package_bundled`
 */
export const webThread: SpawnSession = ({ answered, ended }) => {
  if (typeof Worker === "undefined") {
    throw new BertEdgeError(
      "package_bundled",
      "This bundle contains the browser version of the engine, but this runtime has no Web Workers.",
      {
        hint:
          "In Node, bundle for Node. esbuild: --platform=node. webpack: target node. Rollup: the option exportConditions of its plugin " +
          'node-resolve with "node". Workers have one thread: use bert-edge/engine/wasm.',
      },
    );
  }
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
