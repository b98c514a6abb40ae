import { chooseAccount } from "../deploy/choose-account.ts";
import { type WranglerCalls, wranglerCalls } from "../deploy/wrangler-calls.ts";
import { type Finding, findingsOf } from "../finding.ts";
import type { WranglerConfig } from "../wrangler.ts";
import { attempt } from "./attempt.ts";

export type AccountCalls = Pick<WranglerCalls, "accounts" | "useAccount" | "hasBucket" | "secretNames">;

export const accountCalls = (root: string, { main = "" }: WranglerConfig): AccountCalls =>
  wranglerCalls({ root, script: main, secrets: [] });

/** Examines the Cloudflare account: login, bucket and secrets. Changes nothing. */
export async function examineAccount(
  { account, deployedBuckets }: WranglerConfig,
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
    const chosen = chooseAccount(accounts, account ?? process.env["CLOUDFLARE_ACCOUNT_ID"]);
    calls.useAccount(chosen);
    return [
      login.ok(`Logged in, with the account ${chosen}.`),
      ...(await examineBucket(deployedBuckets.get("MODELS"), calls)),
      await examineSecrets(calls),
    ];
  });
}

async function examineBucket(bucket: string | undefined, calls: AccountCalls): Promise<Finding[]> {
  if (bucket === undefined) return [];
  const { ok, broken } = findingsOf("bucket", bucket);
  return [
    (await calls.hasBucket(bucket))
      ? ok("It exists, and this account can read it.")
      : broken("It does not exist.", `npx wrangler r2 bucket create ${bucket}, or deploy with bert-edge deploy.`),
  ];
}

async function examineSecrets(calls: AccountCalls): Promise<Finding> {
  const { ok, note } = findingsOf("secrets", "the deployed Worker");
  const names = await calls.secretNames();
  return names.includes("API_KEYS")
    ? ok(`It has ${names.join(", ")}.`)
    : {
        ...note("It has no API_KEYS, so it refuses every request, or it is not deployed yet."),
        fix: "npx wrangler secret put API_KEYS",
      };
}
