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

/** Makes the step that looks whether a model, of which the command has no artifact, is in a bucket. */
export function presentStep({
  name,
  model,
  store,
}: Pick<ModelStepOptions, "name" | "store"> & { readonly model: string }): DeployStep {
  return {
    name,
    what: `look for ${model}, which is served too, in the bucket`,
    async isDone() {
      const found = store();
      return found !== undefined && (await currentVersion(found, model)) !== undefined;
    },
    async run() {
      throw new BertEdgeError(
        "model_not_published",
        `The deployment serves ${model}, and the bucket has no such model.`,
        {
          hint: `Give its artifact, too: --model <artifact> <artifact>. Or take ${model} out of MODEL.`,
        },
      );
    },
  };
}

/** Names the step of a model: the first is the default one. */
export const stepName = (step: string, index: number, model: string): string =>
  index === 0 ? step : `${step} ${model}`;

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
