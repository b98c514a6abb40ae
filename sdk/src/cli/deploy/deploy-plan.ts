import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { shown } from "../../artifact/shown.ts";
import { forecastOf } from "../../compile/latency/platforms/forecast.ts";
import { type DeployedBucket, modelNames, type WranglerConfig } from "../wrangler/config.ts";
import { type Environment, environmentText } from "../wrangler/environment.ts";
import { REGION_CONFIG } from "./region-calls.ts";
import type { Account, DryRun } from "./wrangler-calls.ts";

/** Target of all steps of a deployment: one environment of wrangler's configuration. */
export interface DeployPlan {
  /** wrangler's configuration file, relative to the project's folder. */
  readonly config: string;
  /** Path of the configuration that a build wrote, and that wrangler deploys; undefined without a build. */
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
  /** S3 service for the models of the region on AWS; undefined without a region. */
  readonly region: RegionPlan | undefined;
}

/** The S3 service that the AWS SDK reaches from here, and the variable that names it. */
export interface RegionPlan {
  /** URL of the service; undefined for AWS itself. */
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
      hint: `${process.env["WRANGLER_CI_OVERRIDE_NAME"] ? "Unset WRANGLER_CI_OVERRIDE_NAME, from which wrangler takes the Worker's name. Or choose" : "Choose"} the environment with --env <name>, and see what \`npx wrangler deploy --dry-run\` prints for it.`,
    },
  );
}

interface ChosenAccount {
  readonly id: string;
  /** Where the ID comes from, such as `CLOUDFLARE_ACCOUNT_ID in .env`. */
  readonly from: string;
}

/**
 * Chooses the Cloudflare account to deploy to, as wrangler does: account_id of the configuration, then CLOUDFLARE_ACCOUNT_ID.
 *
 * @param accounts accounts of the login; undefined without a login
 * @throws BertEdgeError `login_missing` when a person has to log in or to choose an account; `setting_invalid` if the login has no access
 *   to the account
 */
export function chooseAccount(
  accounts: readonly Account[] | undefined,
  { account, variable }: Pick<WranglerConfig, "account" | "variable">,
): ChosenAccount {
  if (!accounts) {
    throw new BertEdgeError("login_missing", "wrangler is not logged in to Cloudflare.", {
      hint: "Once: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN. Nothing was changed.",
    });
  }
  const named = variable("CLOUDFLARE_ACCOUNT_ID") ?? variable("CF_ACCOUNT_ID");
  const wished = account ? { id: account, from: "account_id" } : named && { id: named.value, from: named.from };
  const names = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  // A login by token may list no accounts, although the token gives access to the wished account.
  if (wished && (accounts.length === 0 || accounts.some(({ id }) => id === wished.id))) return wished;
  if (wished) {
    throw new BertEdgeError(
      "setting_invalid",
      `The login has no access to the account ${shown(wished.id)} (${wished.from}).`,
      {
        hint: `Correct it: the login has ${names}. Or run \`npx wrangler login\` as somebody else. Nothing was changed.`,
      },
    );
  }
  const [only, ...others] = accounts;
  if (only && others.length === 0) return { id: only.id, from: "the only one of the login" };
  throw new BertEdgeError("login_missing", `No Cloudflare account is chosen. The login has: ${names || "none"}.`, {
    hint: "Once: set account_id in wrangler's configuration, or the variable CLOUDFLARE_ACCOUNT_ID, also in .env. Nothing was changed.",
  });
}

/** The plans on which a deployment can run, and their costs. */
export interface DeployCost {
  /** Tokens of each request. */
  readonly tokens: number;
  readonly plans: readonly {
    readonly name: string;
    readonly fits: boolean;
    /** US dollars per million requests, at list prices; undefined if the model was not timed. */
    readonly costPerMillion: number | undefined;
    readonly requestsPerDay: number | undefined;
  }[];
}

/** Returns the cost of a million requests on each Workers plan, and on AWS Lambda if there is a region. `prepare` reports the same. */
export function deployCost(
  { manifest, measurements }: Pick<Artifact, "manifest" | "measurements">,
  hasRegion: boolean,
): DeployCost {
  const { tokens, platforms } = forecastOf(manifest, measurements).fit;
  const plans = platforms
    .filter(({ platform, target }) => target === "edge" || (hasRegion && platform.startsWith("aws-lambda")))
    .map(({ name, fits, costPerMillion, requestsPerDay }) => ({ name, fits, costPerMillion, requestsPerDay }));
  return { tokens, plans };
}

export function costLine({ tokens, plans }: DeployCost): string {
  const each = plans.map(({ name, fits, costPerMillion, requestsPerDay }) => {
    if (!fits) return `${name}: does not fit`;
    if (requestsPerDay !== undefined) return `${name}: $0, up to ${requestsPerDay} a day`;
    return `${name}: ${costPerMillion === undefined ? "not timed" : `$${costPerMillion.toFixed(2)}`}`;
  });
  return `A million requests of ${tokens} tokens, all on one of: ${each.join("; ")}. List prices, without free allowances.`;
}
