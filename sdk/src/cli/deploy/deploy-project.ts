import { createHash } from "node:crypto";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { WritableStore } from "../../storage/store.ts";
import { assertSameAsWrangler, bucketText, type DeployPlan } from "./deploy-plan.ts";
import { knownDeployment } from "./known-deployment.ts";
import type { DeploySecrets } from "./read-secrets.ts";
import type { RegionStack } from "./region-calls.ts";
import {
  modelStep,
  presentStep,
  type RegionDeployment,
  type RunStepsOptions,
  regionSteps,
  runSteps,
  type StepReport,
  stepName,
} from "./steps.ts";
import type { WranglerCalls } from "./wrangler-calls.ts";

export interface DeployOptions extends RunStepsOptions {
  /** The project's folder. */
  readonly root: string;
  readonly plan: DeployPlan;
  /** The bucket, or the error that says what a dry run lacks to open it. */
  readonly store: WritableStore | BertEdgeError;
  /** The models to publish. The first is the one that is checked and priced. */
  readonly artifacts: readonly PublishableArtifact[];
  /** Other models that the Worker serves. They must be in the bucket. */
  readonly others: readonly string[];
  /** Undefined in a dry run without a file of secrets. */
  readonly secrets: DeploySecrets | undefined;
  readonly wrangler: WranglerCalls;
  /** Undefined if the deployment has no region, or one that is deployed elsewhere. */
  readonly region: RegionDeployment | undefined;
}

export interface Deployed {
  readonly steps: readonly StepReport[];
  /** Undefined in a dry run before the first deployment, and for Workers without a URL. */
  readonly url: string | undefined;
}

type Secrets = Readonly<Record<string, string>>;

/** Secrets of a Worker that signs its requests to a region on AWS. */
const SIGNING = ["REGION_AWS_ACCESS_KEY_ID", "REGION_AWS_SECRET_ACCESS_KEY"];

/**
 * Deploys an edge: bucket, model, region, secrets, Worker. Does only what is left.
 *
 * @throws BertEdgeError `deploy_failed`, `deploy_plan_differs`, `login_missing` when the edge has no keys for the region, and the errors of `publish`
 */
export async function deployProject(options: DeployOptions): Promise<Deployed> {
  const { root, plan, store, artifacts, others, wrangler } = options;
  const { worker, bucket, environment } = plan;
  const secrets: Secrets = options.secrets ?? {};
  const place = { worker, account: plan.account?.id, environment: environment.name };
  const known = await knownDeployment(root, place);
  const region = options.region && regionSteps(options.region, options, known);
  /** Undefined if a dry run could not look for the bucket. */
  let hasBucket: boolean | undefined;
  let missing: Record<string, string> = {};
  let unsigned = false;
  let url = known.facts.url;

  function openBucket(): WritableStore | undefined {
    if (hasBucket === false) return undefined;
    if (store instanceof BertEdgeError) throw store;
    return store;
  }

  const dryRun = await wrangler.dryRun();
  assertSameAsWrangler(plan, dryRun);
  const { tag } = dryRun;
  const steps = await runSteps(
    [
      {
        name: "bucket",
        what: `create the R2 bucket ${bucketText(bucket)}`,
        async isDone() {
          hasBucket = await wrangler.hasBucket(bucket);
          return hasBucket;
        },
        async run() {
          await wrangler.createBucket(bucket);
          hasBucket = true;
        },
      },
      ...artifacts.map((artifact, i) =>
        modelStep({
          name: stepName("model", i, artifact.manifest.name),
          ...{ bucket: "the bucket", artifact, store: openBucket },
        }),
      ),
      ...others.map((model) => presentStep({ name: `model ${model}`, model, store: openBucket })),
      ...(region?.steps ?? []),
      {
        name: "secrets",
        what: `set the Worker's secrets ${[...Object.keys(options.secrets ?? { API_KEYS: "" }), ...(region ? ["REGION_URL"] : [])].join(", ")}, unless they are set`,
        async isDone() {
          if (!options.secrets) throw secretsMissing();
          const there = await wrangler.secretNames();
          const stack = region?.stack();
          missing = Object.fromEntries(Object.entries(secrets).filter(([name]) => !there.includes(name)));
          if (stack && known.facts.regionAccess !== accessOf(stack, secrets)) {
            missing = { ...missing, ...regionSecrets(stack, secrets) };
          }
          unsigned = region !== undefined && !SIGNING.every((name) => name in secrets || there.includes(name));
          return Object.keys(missing).length === 0 && !unsigned && (!region || stack !== undefined);
        },
        async run() {
          const stack = region?.stack();
          if (stack && unsigned) throw signingMissing(stack);
          await wrangler.putSecrets(missing);
          if (stack) await known.keep({ regionAccess: accessOf(stack, secrets) });
        },
      },
      {
        name: "worker",
        what: `deploy the Worker ${worker}`,
        async isDone() {
          return url !== undefined && (await wrangler.deployedTag()) === tag;
        },
        async run() {
          url = await wrangler.deploy(tag);
          if (url !== undefined) await known.keep({ url });
        },
      },
    ],
    options,
  );
  return { steps, url };
}

/** Returns the secrets with which the Worker reaches the region. They must match the region, so they replace older values. */
const regionSecrets = ({ url }: RegionStack, { REGION_KEY = "" }: Secrets) => ({ REGION_URL: url, REGION_KEY });

const accessOf = (stack: RegionStack, secrets: Secrets): string =>
  createHash("sha256")
    .update(JSON.stringify(regionSecrets(stack, secrets)))
    .digest("hex")
    .slice(0, 12);

const secretsMissing = () =>
  new BertEdgeError("login_missing", "There is no --secrets <file>, which also says whether there is a region.");

const signingMissing = ({ user }: RegionStack) =>
  new BertEdgeError("login_missing", `The edge has no keys to sign requests to the region with.`, {
    hint: `Once: run \`aws iam create-access-key --user-name ${user}\`, and add its keys to the file of secrets as ${SIGNING.join(" and ")}. Then run the command again: it continues with what is left.`,
  });
