import { BertEdgeError } from "../../artifact/error.ts";
import { type DeployedBucket, modelNames } from "../wrangler/config.ts";
import { type Environment, environmentText } from "../wrangler/environment.ts";
import { REGION_CONFIG } from "./region-calls.ts";
import type { DryRun } from "./wrangler-calls.ts";

/** Where all steps of a deployment go: one environment of wrangler's configuration. */
export interface DeployPlan {
  /** wrangler's configuration file, relative to the project's folder. */
  readonly config: string;
  /** The configuration of a build, which wrangler deploys. */
  readonly built: string | undefined;
  readonly environment: Environment;
  /** Name of the Worker, which also has the secrets. */
  readonly worker: string;
  readonly bucket: DeployedBucket;
  /** S3 endpoint of the bucket; undefined in a dry run without a login. */
  readonly endpoint: string | undefined;
  /** Cloudflare's account ID, and where it comes from; undefined in a dry run without a login. */
  readonly account: { readonly id: string; readonly from: string } | undefined;
  /** Names of the models that the Worker serves. */
  readonly models: readonly string[];
  /** Where the models of the region on AWS go; undefined without one. */
  readonly region: RegionPlan | undefined;
}

/** The S3 service that the AWS SDK reaches from here, and the variable that names it. */
export interface RegionPlan {
  /** Undefined: AWS. */
  readonly endpoint: string | undefined;
  readonly from: string;
}

export const bucketText = ({ name, jurisdiction }: { name: string; jurisdiction: string | undefined }): string =>
  jurisdiction ? `${name} (jurisdiction ${jurisdiction})` : name;

/** Describes a plan, a line for each part. */
export function planLines(plan: DeployPlan): string[] {
  const { config, built, environment, worker, bucket, endpoint, account, models, region } = plan;
  const s3 = region?.endpoint === undefined ? "AWS" : `${region.endpoint} (${region.from})`;
  const rows = [
    ["environment", `${environmentText(environment)} of ${config}`],
    ["account", account ? `${account.id} (${account.from})` : "not known without a login"],
    ["bucket", `${bucketText(bucket)}${endpoint ? ` at ${endpoint}` : ""}`],
    ["model", models.join(", ")],
    ...(region ? [["region", `the stack of ${REGION_CONFIG}, with its bucket at ${s3}`]] : []),
    ["Worker", `${worker}${built === undefined ? "" : `, as it was built (${built})`}, with its secrets`],
  ];
  return rows.map(([name = "", value]) => `plan     ${name}: ${value}`);
}

/**
 * Checks that wrangler would deploy what was planned.
 *
 * @throws BertEdgeError `deploy_plan_differs`
 */
export function assertSameAsWrangler(plan: DeployPlan, seen: DryRun): void {
  const { config, worker, bucket, environment, models } = plan;
  const model = seen.model && modelNames({ MODEL: seen.model }).join(",");
  const isCut = model?.endsWith("...") && models.join(",").startsWith(model.slice(0, -3));
  const differences = [
    ["the Worker", worker, seen.worker],
    ["the bucket of MODELS", bucketText(bucket), seen.bucket && bucketText(seen.bucket)],
    ...(isCut ? [] : [["MODEL", models.join(","), model]]),
  ].filter(([, planned, found]) => planned !== found);
  if (differences.length === 0) return;
  const found = differences.map(([what, planned, other]) => `${what} is ${planned} here and ${other ?? "none"} there`);
  throw new BertEdgeError(
    "deploy_plan_differs",
    `\`wrangler deploy --dry-run\` disagrees with the plan for ${environmentText(environment)} of ${config}: ${found.join("; ")}. Nothing was changed.`,
    {
      hint: `${process.env["WRANGLER_CI_OVERRIDE_NAME"] ? "Unset WRANGLER_CI_OVERRIDE_NAME, which names the Worker there. Or choose" : "Choose"} the environment with --env <name>, and see what \`npx wrangler deploy --dry-run\` prints for it.`,
    },
  );
}
