import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { publish } from "../../storage/publish.ts";
import { readPointer } from "../../storage/published-artifact.ts";
import type { WritableStore } from "../../storage/store.ts";
import { keepUrl, knownUrl } from "./known-url.ts";
import type { DeploySecrets } from "./read-secrets.ts";
import { type RunStepsOptions, runSteps, type StepReport } from "./run-steps.ts";
import type { WranglerCalls } from "./wrangler-calls.ts";

export interface DeployOptions extends RunStepsOptions {
  /** The project's folder. */
  readonly root: string;
  /** wrangler's configuration file, relative to `root`. */
  readonly config: string;
  /** Name of the Worker. */
  readonly worker: string;
  /** Cloudflare's account ID. */
  readonly account: string;
  readonly bucket: string;
  readonly store: WritableStore;
  readonly artifact: PublishableArtifact;
  readonly secrets: DeploySecrets;
  readonly wrangler: WranglerCalls;
}

export interface Deployed {
  readonly steps: readonly StepReport[];
  /** Undefined in a dry run before the first deployment, and for Workers without a URL. */
  readonly url: string | undefined;
}

/**
 * Deploys an edge: bucket, model, secrets, Worker. Does only what is left.
 *
 * @throws BertEdgeError `deploy_failed`, and the errors of `publish`
 */
export async function deployProject(options: DeployOptions): Promise<Deployed> {
  const { root, config, worker, account, bucket, store, artifact, secrets, wrangler } = options;
  const { manifest, version } = artifact;
  let hasBucket = false;
  let missing: string[] = [];
  let tag = "";
  let url = await knownUrl(root, { worker, account });

  const steps = await runSteps(
    [
      {
        name: "bucket",
        what: `create the R2 bucket ${bucket}`,
        async isDone() {
          hasBucket = await wrangler.hasBucket(bucket);
          return hasBucket;
        },
        async run() {
          await wrangler.createBucket(bucket);
          hasBucket = true;
        },
      },
      {
        name: "model",
        what: `publish ${manifest.name}@${version} to the bucket`,
        isDone: async () => hasBucket && (await currentVersion()) === version,
        run: async () => void (await publish(artifact, store)),
      },
      {
        name: "secrets",
        what: `set the Worker's secrets ${Object.keys(secrets).join(", ")}, unless they are set`,
        async isDone() {
          const known = await wrangler.secretNames();
          missing = Object.keys(secrets).filter((name) => !known.includes(name));
          return missing.length === 0;
        },
        run: () => wrangler.putSecrets(Object.fromEntries(missing.map((name) => [name, secrets[name] as string]))),
      },
      {
        name: "worker",
        what: `deploy the Worker ${worker}`,
        async isDone() {
          tag = await wrangler.bundleTag(config);
          return url !== undefined && (await wrangler.deployedTag()) === tag;
        },
        async run() {
          url = await wrangler.deploy(tag);
          if (url !== undefined) await keepUrl(root, { worker, account, url });
        },
      },
    ],
    options,
  );
  return { steps, url };

  /** Returns the version that the bucket has; undefined without the model. */
  async function currentVersion(): Promise<string | undefined> {
    try {
      return (await readPointer(store, manifest.name)).version;
    } catch (error) {
      if (error instanceof BertEdgeError && error.code === "model_not_published") return undefined;
      throw error;
    }
  }
}
