import { publish } from "#sdk/storage/publish.ts";
import type { ModelStore } from "./model-store.ts";
import { startWorker } from "./running-worker.ts";
import { workerModules } from "./worker-modules.ts";

/** An R2 bucket that workerd stores in a folder. */
export const bucketIn = (folder: string): ModelStore => ({
  source: { bucket: folder },
  async publish(artifact) {
    const { name } = artifact.manifest;
    const publisher = await startWorker({
      modules: await workerModules("none"),
      model: name,
      source: { bucket: folder },
    });
    try {
      await publish(artifact, await publisher.bucket());
    } finally {
      await publisher.stop();
    }
  },
  stop: async () => {},
});
