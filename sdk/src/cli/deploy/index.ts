import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { firstPlainKey, readApiKey } from "../api-key.ts";
import type { CheckReport } from "../check/check-deployment.ts";
import { envOption } from "../options.ts";
import { printJson, printNote, printResult, ReportedFailure } from "../output.ts";
import type { DeployCost, DeployPlan } from "./deploy-plan.ts";
import type { Deployed } from "./deploy-project.ts";
import type { StepState } from "./steps.ts";

interface Options {
  model: string[];
  secrets?: string;
  endpoint?: string;
  env?: string;
  dryRun?: true;
  json?: true;
}

interface DeployReport extends Deployed {
  readonly plan: DeployPlan;
  readonly cost: DeployCost;
  /** Undefined in a dry run. */
  readonly check: CheckReport | undefined;
}

export const deployCommand = new Command("deploy")
  .description("deploy bucket, model, region, secrets and Worker; then check them. A second run does only what is left")
  .requiredOption("--model <artifacts...>", "artifact folder; of several models, the first is checked and priced")
  .option(
    "--secrets <file>",
    "file of lines NAME=value: API_KEYS, REGION_KEY for the region of serverless.yml, and REGION_URL for one elsewhere. Required, except with --dry-run",
  )
  .option(...envOption)
  .option("--endpoint <url>", "S3 endpoint of the bucket (default: R2 of the account, in the bucket's jurisdiction)")
  .option(
    "--dry-run",
    "print what is left to do, and the cost of a million requests; change nothing. Without a login it says what it could not look at",
  )
  .option("--json", "print the report as JSON")
  .addHelpText(
    "after",
    "\nOnce: `npx wrangler login`, R2 keys in R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, and for the region of serverless.yml " +
      "credentials of AWS. Secrets that the Worker has are not replaced, apart from those of that region: change one with " +
      "`npx wrangler secret put`.",
  )
  .action(async ({ model, secrets, endpoint, env, json, ...options }: Options, command: Command) => {
    const dryRun = options.dryRun ?? false;
    if (secrets === undefined && !dryRun) command.error("required option '--secrets <file>' not specified");
    const { prepareDeployment } = await import("./prepare-deployment.ts");
    const { deployProject } = await import("./deploy-project.ts");
    const { costLine, deployCost, planLines } = await import("./deploy-plan.ts");
    const deployment = await prepareDeployment({ root: process.cwd(), models: model, secrets, endpoint, env, dryRun });
    // The check needs a plain key, but all keys in API_KEYS may be hashes. A missing key must be an error before anything changes.
    const key = dryRun ? "" : (firstPlainKey(deployment.secrets?.API_KEYS ?? "") ?? readApiKey(undefined));
    printNote(planLines(deployment.plan).join("\n"));
    const { steps, url } = await deployProject({
      ...deployment,
      dryRun,
      onStep: ({ state, name, what, why }) =>
        printNote(`${state.padEnd(8)}${name}: ${what}${why === undefined ? "" : `. Not looked at: ${why}`}`),
    });
    const [first] = deployment.artifacts as [PublishableArtifact];
    const cost = deployCost(first, deployment.region !== undefined);
    printNote(costLine(cost));
    const check = dryRun || url === undefined ? undefined : await checked(url, first, key);
    const report: DeployReport = { plan: deployment.plan, steps, url, cost, check };
    if (json) printJson(report);
    else printResult(described(report));
    if (check?.ok === false) throw new ReportedFailure();
  });

/** Checks the deployment once it answers. */
async function checked(url: string, artifact: PublishableArtifact, key: string): Promise<CheckReport> {
  const { expectedOf } = await import("../check/read-expected.ts");
  const { checkDeployment } = await import("../check/check-deployment.ts");
  const { findingLines } = await import("../finding.ts");
  await untilReached(url);
  return checkDeployment({
    url,
    key,
    timeoutMs: 30_000,
    expected: await expectedOf(artifact, artifact.manifest.name),
    // The check names the model, because the Worker's default model can be one whose artifact was not given.
    model: artifact.manifest.name,
    onFinding: (finding) => printNote(...findingLines(finding, process.stderr)),
  });
}

function described({ steps, url, check }: DeployReport): string {
  const namesOf = (wanted: StepState) => steps.filter(({ state }) => state === wanted).map(({ name }) => name);
  const [left, unknown] = [namesOf("planned"), namesOf("unknown")];
  const parts = [
    ...(left.length > 0 ? [`Left to do: ${left.join(", ")}.`] : []),
    ...(unknown.length > 0 ? [`Not looked at without a login: ${unknown.join(", ")}.`] : []),
  ];
  if (parts.length > 0) return `${parts.join(" ")} Nothing was changed.`;
  if (!check)
    return url === undefined ? "The Worker has no URL, so it was not checked." : `${url}: nothing is left to do.`;
  return check.ok ? `${url} is deployed and serves ${check.model}.` : `${url} is deployed, but the check found faults.`;
}

/** Maximum time to wait for a new workers.dev address, in ms. It takes some seconds until the address is known everywhere. */
const WITHIN_MS = 60_000;
const POLL_MS = 1_000;

/** Waits until `/health` answers at a URL, at most `WITHIN_MS`. If it does not answer, the check reports what is wrong. */
async function untilReached(url: string): Promise<void> {
  const giveUpAt = performance.now() + WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const answer = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(POLL_MS * 5) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(POLL_MS);
  }
}
