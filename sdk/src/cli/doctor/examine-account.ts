import { relative } from "node:path";
import { bucketText, chooseAccount } from "../deploy/deploy-plan.ts";
import { type WranglerCalls, wranglerCalls } from "../deploy/wrangler-calls.ts";
import { attempt, type Finding, findingsOf } from "../finding.ts";
import { jurisdictionArgs } from "../wrangler/cloudflare.ts";
import type { DeployedBucket, WranglerConfig } from "../wrangler/config.ts";
import { type Environment, envFlag } from "../wrangler/environment.ts";

export type AccountCalls = Pick<WranglerCalls, "accounts" | "useAccount" | "hasBucket" | "secretNames">;

export const accountCalls = (root: string, { path, environment, main = "" }: WranglerConfig): AccountCalls =>
  wranglerCalls({ root, config: relative(root, path), environment, script: main, secrets: [] });

/** Examines the Cloudflare account: login, bucket and secrets. Changes nothing. */
export async function examineAccount(
  config: Pick<WranglerConfig, "account" | "variable" | "deployedBucket" | "environment">,
  open: () => AccountCalls,
): Promise<Finding[]> {
  const login = findingsOf("login", "wrangler");
  return attempt("login", "wrangler", async () => {
    const calls = open();
    const accounts = await calls.accounts();
    if (accounts === undefined) {
      return [
        { ...login.note("Nobody is logged in, so bucket and secrets were not examined."), fix: "npx wrangler login" },
      ];
    }
    const { id, from } = chooseAccount(accounts, config);
    calls.useAccount(id);
    return [
      login.ok(`Logged in, with the account ${id} (${from}).`),
      ...(await examineBucket(config.deployedBucket, calls)),
      await examineSecrets(config.environment, calls),
    ];
  });
}

async function examineBucket(bucket: DeployedBucket | undefined, calls: AccountCalls): Promise<Finding[]> {
  if (bucket === undefined) return [];
  const { ok, broken } = findingsOf("bucket", bucketText(bucket));
  const create = ["npx wrangler r2 bucket create", bucket.name, ...jurisdictionArgs(bucket.jurisdiction)].join(" ");
  return [
    (await calls.hasBucket(bucket))
      ? ok("It exists, and this account can read it.")
      : broken("It does not exist.", `${create}, or deploy with bert-edge deploy.`),
  ];
}

async function examineSecrets(environment: Environment, calls: AccountCalls): Promise<Finding> {
  const { ok, note } = findingsOf("secrets", "the deployed Worker");
  const names = await calls.secretNames();
  return names.includes("API_KEYS")
    ? ok(`It has ${names.join(", ")}.`)
    : {
        ...note("It has no API_KEYS, so it refuses every request, or it is not deployed yet."),
        fix: `npx wrangler secret put API_KEYS${envFlag(environment)}`,
      };
}
