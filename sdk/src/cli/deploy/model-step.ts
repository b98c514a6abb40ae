import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { publish } from "../../storage/publish.ts";
import { readPointer } from "../../storage/published-artifact.ts";
import type { WritableStore } from "../../storage/store.ts";
import { signingOf } from "../signing.ts";
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
      return found !== undefined && (await currentVersion((await signingOf(found)).store, manifest.name)) === version;
    },
    async run() {
      const signed = await signingOf(store() as WritableStore);
      await publish(artifact, signed.store, signed);
    },
  };
}

/** Returns the version that a bucket has; undefined without the model, or if it must be published again. */
async function currentVersion(store: WritableStore, model: string): Promise<string | undefined> {
  try {
    return (await readPointer(store, model)).version;
  } catch (error) {
    if (error instanceof BertEdgeError && toPublish.has(error.code)) return undefined;
    throw error;
  }
}

const toPublish: ReadonlySet<string> = new Set(["model_not_published", "signature_invalid"]);
