import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { publish } from "../../storage/publish.ts";
import { readPointer } from "../../storage/published-artifact.ts";
import type { WritableStore } from "../../storage/store.ts";
import type { DeployStep } from "./run-steps.ts";

interface ModelStepOptions {
  readonly name: string;
  /** Names the bucket to the user. */
  readonly bucket: string;
  readonly artifact: PublishableArtifact;
  /** Returns the bucket; undefined before there is one. */
  store(): WritableStore | undefined;
}

/** Makes the step that publishes a model to a bucket. */
export function modelStep({ name, bucket, artifact, store }: ModelStepOptions): DeployStep {
  const { manifest, version } = artifact;
  return {
    name,
    what: `publish ${manifest.name}@${version} to ${bucket}`,
    async isDone() {
      const found = store();
      return found !== undefined && (await currentVersion(found, manifest.name)) === version;
    },
    run: async () => void (await publish(artifact, store() as WritableStore)),
  };
}

/** Returns the version that a bucket has; undefined without the model. */
async function currentVersion(store: WritableStore, model: string): Promise<string | undefined> {
  try {
    return (await readPointer(store, model)).version;
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "model_not_published") return undefined;
    throw error;
  }
}
