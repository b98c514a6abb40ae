import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { edgeMisfit } from "../../compile/commands/prepare-warnings.ts";
import { forecastOf } from "../../compile/latency/platforms/forecast.ts";
import { assertLoadable } from "../../runtime/assert-loadable.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { r2Endpoint } from "../../storage/s3-address.ts";
import { publisherPlace } from "../../storage/s3-connection.ts";
import { type S3PublisherOptions, s3Publisher } from "../../storage/s3-publisher.ts";
import { assertDifferent, edgeScript, engineOf, openProject } from "../dev/project.ts";
import { assertOwnEndpoint, R2_REGION } from "../wrangler/cloudflare.ts";
import { modelSetting, readWranglerConfig } from "../wrangler/config.ts";
import { environmentText } from "../wrangler/environment.ts";
import { assertWranglerFor } from "../wrangler/installed.ts";
import type { Variables } from "../wrangler/variables.ts";
import { chooseAccount, type RegionPlan } from "./deploy-plan.ts";
import type { DeployOptions } from "./deploy-project.ts";
import { type DeploySecrets, readSecrets } from "./read-secrets.ts";
import { REGION_CONFIG, regionCalls } from "./region-calls.ts";
import type { RegionDeployment } from "./steps.ts";
import { withoutLogin, wranglerCalls } from "./wrangler-calls.ts";

interface DeploymentNames {
  /** The project's folder. */
  readonly root: string;
  /** Artifact folders. */
  readonly models: readonly string[];
  /** File of secrets. Only a dry run may leave it out. */
  readonly secrets: string | undefined;
  readonly endpoint: string | undefined;
  /** The option `--env`. */
  readonly env: string | undefined;
  /** Whether this is a dry run. It needs no login: its steps then say what they could not look at. */
  readonly dryRun: boolean;
}

/**
 * Reads everything that a deployment needs. Throws an error for what a person must do first, such as a login. Changes nothing.
 *
 * @throws BertEdgeError `login_missing`, `model_too_large`, `project_invalid`, `setting_invalid`, `package_missing`, and the errors of
 *   reading artifacts
 */
export async function prepareDeployment(names: DeploymentNames): Promise<Omit<DeployOptions, "dryRun" | "onStep">> {
  const { root, endpoint, dryRun } = names;
  const artifacts: PublishableArtifact[] = [];
  for (const folder of names.models) artifacts.push(await deployable(folder));
  assertDifferent(artifacts);
  const secrets = names.secrets === undefined ? undefined : readSecrets(names.secrets);
  assertWranglerFor("deploy", root);
  const configuration = readWranglerConfig(root, names.env);
  const project = openProject(root, configuration);
  const { path, name, environment, models: served, deployedBucket: bucket, variable } = configuration;
  const config = relative(root, path);
  if (!name || !bucket) {
    throw new BertEdgeError(
      "project_invalid",
      `${path} has no ${name ? "bucket_name for MODELS" : "name"} in ${environmentText(environment)}.`,
      {
        hint: `Set ${name ? "bucket_name of the R2 binding MODELS" : "the Worker's name"} in ${config}.`,
      },
    );
  }
  const given = artifacts.map(({ manifest }) => manifest.name);
  const other = given.find((name) => !served.includes(name));
  if (other !== undefined) {
    const where = environment.name === undefined ? "" : ` in the environment ${environment.name}`;
    const fault =
      served.length === 0
        ? `has no variable MODEL${where}`
        : `serves the model ${served.join(",")}${where}, not ${other}`;
    throw new BertEdgeError("project_invalid", `${path} ${fault}.`, {
      hint: `Set ${modelSetting(configuration, given.join(","))}, and read it in the Worker: model: (env) => env.MODEL.split(",").`,
    });
  }
  const wrangler = wranglerCalls({
    ...{ root, config, environment, built: project.built },
    script: edgeScript(project, engineOf(artifacts)),
    secrets: Object.values(secrets ?? {}),
  });
  const accounts = await wrangler.accounts();
  const account = orMissing(dryRun, () => chooseAccount(accounts, configuration));
  const region = secrets && (await regionOf(root, { artifacts, served, stage: environment.name }, secrets, dryRun));
  artifacts.sort((a, b) => served.indexOf(a.manifest.name) - served.indexOf(b.manifest.name));
  const others = served.filter((name) => !given.includes(name));
  const common = { root, artifacts, others, secrets, region };
  const target = {
    config,
    built: project.built,
    environment,
    worker: name,
    bucket,
    models: served,
    region: region?.plan,
  };
  if (account instanceof BertEdgeError) {
    const plan = { ...target, endpoint, account: undefined };
    return { ...common, plan, store: account, wrangler: withoutLogin(wrangler, account) };
  }
  wrangler.useAccount(account.id);
  const ownEndpoint = r2Endpoint(account.id, bucket.jurisdiction);
  if (endpoint !== undefined) assertOwnEndpoint(endpoint, ownEndpoint);
  const plan = { ...target, endpoint: endpoint ?? ownEndpoint, account };
  const keys = orMissing(dryRun, () => r2Keys(variable, region !== undefined));
  const store =
    keys instanceof BertEdgeError
      ? keys
      : s3Publisher({ bucket: bucket.name, endpoint: plan.endpoint, region: R2_REGION, ...keys });
  return { ...common, plan, store, wrangler };
}

/**
 * Opens an artifact that a Worker can run.
 *
 * @throws BertEdgeError `target_missing`, `model_too_large`, and the errors of `openFolder` and `assertLoadable`
 */
async function deployable(folder: string): Promise<PublishableArtifact> {
  const artifact = await openFolder(folder);
  await assertLoadable(artifact);
  if (!artifact.manifest.targets.edge) {
    throw new BertEdgeError("target_missing", `${folder} has no target edge, so a Worker cannot run it.`, {
      hint: "Prepare the model again with --targets edge.",
    });
  }
  const misfit = edgeMisfit(forecastOf(artifact.manifest, artifact.measurements).fit);
  if (misfit === undefined) return artifact;
  throw new BertEdgeError("model_too_large", `${folder}: ${misfit}`, {
    hint: "Take a smaller model (npx bert-edge models), or prepare it with --table int4 if its vocabulary is large.",
  });
}

/** Runs `work`. In a dry run, returns the error `login_missing` instead of throwing it. */
function orMissing<T>(dryRun: boolean, work: () => T): T | BertEdgeError {
  try {
    return work();
  } catch (error) {
    if (dryRun && error instanceof BertEdgeError && error.code === "login_missing") return error;
    throw error;
  }
}

/** Returns the region of the project's serverless.yml, if the secrets have a key for it and name no region elsewhere. */
async function regionOf(
  root: string,
  {
    artifacts,
    served,
    stage,
  }: { artifacts: readonly PublishableArtifact[]; served: readonly string[]; stage: string | undefined },
  { REGION_KEY, REGION_URL }: DeploySecrets,
  dryRun: boolean,
): Promise<(RegionDeployment & { readonly plan: RegionPlan }) | undefined> {
  if (REGION_KEY === undefined || REGION_URL !== undefined || !existsSync(join(root, REGION_CONFIG))) return undefined;
  if (stage !== undefined && !/^[A-Za-z0-9-]+$/.test(stage)) {
    throw new BertEdgeError("project_invalid", `The environment ${stage} cannot be a stage of ${REGION_CONFIG}.`, {
      hint: "Name the environment with letters, digits and hyphens alone, or take REGION_KEY out of the file of secrets.",
    });
  }
  for (const { manifest, version } of artifacts) {
    if (manifest.targets["regional-cpu"]) continue;
    throw new BertEdgeError(
      "target_missing",
      `${manifest.name}@${version} has no target regional-cpu for AWS Lambda.`,
      {
        hint: "Prepare the model again with --targets edge,regional-cpu, or take REGION_KEY out of the file of secrets.",
      },
    );
  }
  const calls = regionCalls({
    root,
    model: served.join(","),
    stage,
    secrets: { REGION_KEY },
  });
  // Asks for the stack here, so that missing credentials are an error before anything changes.
  if (!dryRun) await calls.stack();
  const { endpoint, names } = publisherPlace({ bucket: "the-bucket-of-the-stack" });
  return {
    ...{ calls, plan: { endpoint, from: names.endpoint } },
    store: ({ bucket, awsRegion }) => s3Publisher({ bucket, region: awsRegion }),
  };
}

/**
 * Returns the keys of the R2 bucket, and the names of its settings for messages. Returns no keys if the AWS SDK finds them in its own
 * variables. With a region on AWS, those variables have the keys of AWS, so they are not used.
 *
 * @throws BertEdgeError `login_missing`
 */
function r2Keys(
  variable: Variables,
  hasRegion: boolean,
): Pick<S3PublisherOptions, "accessKeyId" | "secretAccessKey" | "names"> {
  const names = { endpoint: "--endpoint", bucket: "bucket_name of the R2 binding MODELS" };
  const keys = ["R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"] as const;
  const [accessKeyId, secretAccessKey] = keys.map((name) => variable(name)?.value);
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, names: { ...names, keys } };
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE } = process.env;
  if (!hasRegion && ((AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) || AWS_PROFILE)) return { names };
  throw new BertEdgeError("login_missing", "There are no keys for the R2 bucket.", {
    hint: "Once: in Cloudflare's dashboard (R2, Manage API tokens), make a token with Object Read & Write. Set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY to its keys, also in .env. Nothing was changed.",
  });
}
