import { readFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { fencesOf } from "#test/docs/fences.ts";
import { buildOf, environmentProject, environmentSettings } from "#test/fixtures/environment-project.ts";
import { oslsStandIn } from "#test/fixtures/osls-stand-in.ts";
import { rememberingS3 } from "#test/fixtures/remembering-s3.ts";
import { ELSEWHERE, WRANGLER_PROGRAM } from "#test/fixtures/wrangler-stand-in.ts";
import type { DeployPlan } from "./deploy-plan.ts";
import type { StepReport } from "./steps.ts";

// A stand-in is called in this process: a project's deployment starts a dozen.
vi.mock("./run-tool.ts", async () => ({ runTool: (await import("#test/fixtures/tool-stand-in.ts")).callStandIn }));

const NAMES = { name: "api", main: "functions/edge.ts", compatibility_date: "2026-01-01" };
const ACCOUNTS = [
  { id: "acc1", name: "One" },
  { id: "acc9", name: "Nine" },
];

interface Report {
  readonly plan: DeployPlan;
  readonly steps: readonly StepReport[];
}

function reportOf({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) {
  expect(code, stderr).toBe(0);
  const { plan, steps } = JSON.parse(stdout) as Report;
  const { worker, account, bucket, endpoint, environment } = plan;
  const where = [environment.name, worker, account?.id, bucket.name, bucket.jurisdiction, endpoint];
  return { where, states: steps.map(({ state }) => state), stderr };
}

it("deploys staging and production as the documentation shows, and wrangler's own dry runs agree", {
  timeout: 300_000,
}, async () => {
  const { write, deploy, wrangler } = await environmentProject();
  const toml = fencesOf("docs/deploy.md").filter(({ language }) => language === "toml");
  const example = toml.map(({ code }) => code).find((code) => code.includes("env.production")) as string;
  const own = await readFile("wrangler.toml", "utf8");
  await write("wrangler.toml", `${own}\n${example}`.replaceAll("bert-edge-mini", "tiny"));
  await write(".env.staging", "CLOUDFLARE_ACCOUNT_ID=acc1\n");
  await write(".env.production", "CLOUDFLARE_ACCOUNT_ID=acc9\n");
  await wrangler.change({ accounts: ACCOUNTS, dryRunsOf: WRANGLER_PROGRAM });

  const dryRun = async (env: string) => reportOf(await deploy(["--dry-run", "--env", env])).where;
  expect(await dryRun("staging")).toEqual([
    ...["staging", "bert-edge-staging", "acc1", "bert-edge-models-staging", undefined],
    "https://acc1.r2.cloudflarestorage.com",
  ]);
  expect(await dryRun("production")).toEqual([
    ...["production", "bert-edge-production", "acc9", "bert-edge-models-production", "eu"],
    "https://acc9.eu.r2.cloudflarestorage.com",
  ]);
  expect(await wrangler.changes()).toEqual([]);

  await wrangler.change({ dryRunsOf: ELSEWHERE });
  const { endpoint, objects } = await rememberingS3();
  const run = async (env: string) => reportOf(await deploy(["--env", env, "--endpoint", endpoint])).states;
  expect(await run("staging")).toEqual(["done", "done", "done", "done"]);
  const selection = "--config wrangler.toml --env";
  expect(await wrangler.changes()).toEqual([
    `r2 bucket create bert-edge-models-staging ${selection} staging`,
    `secret bulk ${selection} staging`,
    expect.stringMatching(new RegExp(`^deploy functions/edge.ts --tag bert-edge-\\w+ ${selection} staging$`)),
  ]);
  expect(await run("production")).toEqual(["done", "done", "done", "done"]);
  expect((await wrangler.state()).buckets).toEqual(["bert-edge-models-staging", "eu:bert-edge-models-production"]);
  for (const env of ["staging", "production"]) {
    expect([...objects.keys()]).toContain(`/bert-edge-models-${env}/models/tiny/current.json`);
  }
});

it("plans the environment and the account of .env, as wrangler deploys them", { timeout: 300_000 }, async () => {
  const { write, deploy, wrangler } = await environmentProject();
  await wrangler.change({ accounts: ACCOUNTS });
  const env = { production: { name: "x-prod", ...environmentSettings("x-prod-models") } };
  await write("wrangler.jsonc", JSON.stringify({ ...NAMES, ...environmentSettings("models"), env }));
  expect((await deploy(["--dry-run"])).stderr).toContain("No Cloudflare account is chosen.");
  await write(".env", "CLOUDFLARE_ENV=production\nCLOUDFLARE_ACCOUNT_ID=acc9\n");
  await wrangler.change({ dryRunsOf: WRANGLER_PROGRAM });
  const { where, stderr } = reportOf(await deploy(["--dry-run"]));
  expect(where.slice(0, 4)).toEqual(["production", "x-prod", "acc9", "x-prod-models"]);
  expect(stderr).toContain(
    "plan     environment: the environment production (CLOUDFLARE_ENV in .env) of wrangler.jsonc",
  );
  expect(stderr).toContain("plan     account: acc9 (CLOUDFLARE_ACCOUNT_ID in .env)");
  await wrangler.change({ dryRunsOf: ELSEWHERE });
  // A variable of the shell overrules the file, and --env overrules both.
  const exported = reportOf(await deploy(["--dry-run", "--env", ""], { CLOUDFLARE_ACCOUNT_ID: "acc1" })).where;
  expect(exported.slice(0, 4)).toEqual([undefined, "api", "acc1", "models"]);
});

it("sends the model to the region auto of R2 while AWS_REGION is that of the region's stack", async () => {
  const { root, write, deploy, wrangler } = await environmentProject(["edge", "regional-cpu"]);
  const osls = await oslsStandIn(root);
  await osls.change({ bucket: "region-models" });
  await write("serverless.yml", "service: bert-edge\n");
  const signing = "REGION_AWS_ACCESS_KEY_ID=a\nREGION_AWS_SECRET_ACCESS_KEY=b\n";
  await write("secrets", `API_KEYS=key-of-the-deployment\nREGION_KEY=key-of-the-region\n${signing}`);
  const env = { staging: environmentSettings("models", { jurisdiction: "eu" }), eu_1: environmentSettings("models") };
  await write("wrangler.json", JSON.stringify({ ...NAMES, ...environmentSettings("models"), env }));
  const { endpoint, signed } = await rememberingS3();
  const aws = { AWS_ACCESS_KEY_ID: "aws", AWS_SECRET_ACCESS_KEY: "aws", AWS_ENDPOINT_URL_S3: endpoint };
  const args = ["--env", "staging", "--endpoint", endpoint];
  const { stderr } = reportOf(await deploy(args, { ...aws, AWS_REGION: "eu-central-1" }));
  expect(stderr).toContain(`region: the stack of serverless.yml, with its bucket at ${endpoint} (AWS_ENDPOINT_URL_S3)`);
  expect([...signed].sort()).toEqual(["models auto", "region-models eu-central-1"]);
  const calls = (await osls.calls()).map(({ args }) => args.slice(-2).join(" "));
  expect(new Set(calls)).toEqual(new Set(["--stage staging"]));
  expect((await wrangler.state()).buckets).toEqual(["eu:models"]);
  // osls takes no such stage.
  const { stdout } = await deploy(["--env", "eu_1"], aws);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "project_invalid", message: "The environment eu_1 cannot be a stage of serverless.yml." },
  });
});

it("deploys what a build wrote for the environment, as wrangler does", { timeout: 300_000 }, async () => {
  const { write, writeAll, deploy, wrangler } = await environmentProject();
  const env = { staging: environmentSettings("staging-models") };
  await write("wrangler.json", JSON.stringify({ ...NAMES, ...environmentSettings("models"), env }));
  await writeAll(buildOf("api-staging", "staging-models", "staging"));
  const { endpoint } = await rememberingS3();
  const { states, stderr } = reportOf(await deploy(["--env", "staging", "--endpoint", endpoint]));
  expect(states).toEqual(["done", "done", "done", "done"]);
  expect(stderr).toContain("Worker: api-staging, as it was built (dist/api/wrangler.json), with its secrets");
  expect(await wrangler.changes()).toEqual([
    "r2 bucket create staging-models --config wrangler.json --env staging",
    "secret bulk --config wrangler.json --env staging",
    expect.stringMatching(/^deploy --tag bert-edge-\w+ --env staging$/),
  ]);
});
