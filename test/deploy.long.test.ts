import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { expect, it, onTestFinished } from "vitest";
import type { CheckReport } from "#sdk/cli/check/check-deployment.ts";
import type { StepReport } from "#sdk/cli/deploy/steps.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { readPointer } from "#sdk/storage/published-artifact.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import { bertEdge } from "./fixtures/bert-edge-command.ts";
import { startObjectStorage } from "./fixtures/object-storage.ts";
import { oslsStandIn, REGION_STAND_IN_URL } from "./fixtures/osls-stand-in.ts";
import { prepared } from "./fixtures/prepared.ts";
import { runCommandLine } from "./fixtures/run-command-line.ts";
import { serve } from "./fixtures/serve.ts";
import { temporaryFolder } from "./fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "./fixtures/tiny-bert.ts";
import { wranglerStandIn } from "./fixtures/wrangler-stand-in.ts";

interface Report {
  steps: StepReport[];
  url: string;
  cost: { plans: { name: string; costPerMillion?: number }[] };
  check?: CheckReport;
}

const KEY = "key-of-the-deployment";

/** Makes a project with an artifact, stand-ins of the tools, and a deployed Worker that reads the published model. */
async function project(secrets: Readonly<Record<string, string>>) {
  const root = await temporaryFolder();
  const model = join(root, "model");
  await writePreparableCheckpoint(model);
  const targets = ["edge", "regional-cpu"] as const;
  const artifact = await prepared({ model, name: "bert-edge-mini", targets, timingRounds: 1 });
  const [storage, ofRegion] = [await startObjectStorage(), await startObjectStorage()];
  onTestFinished(async () => void (await Promise.all([storage.stop(), ofRegion.stop()])));
  const { bucket, endpoint, accessKeyId, secretAccessKey } = storage.access;

  const engine = await engineOnThisMachine("wasm");
  const app = createEdgeApp({ models: s3Store(storage.access), model: "bert-edge-mini", engine, keys: [KEY] });
  const url = await serve(getRequestListener(app.fetch));

  const wrangler = await wranglerStandIn(root);
  await wrangler.change({ url });
  await mkdir(join(root, "functions"));
  await cp("functions/edge.ts", join(root, "functions/edge.ts"));
  const config = await readFile("wrangler.toml", "utf8");
  await writeFile(join(root, "wrangler.toml"), config.replace("bert-edge-models", bucket));
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(root, "secrets"), lines.join(""));

  async function run(start: typeof bertEdge, more: readonly string[] = []) {
    const args = ["deploy", "--model", artifact, "--secrets", "secrets", "--endpoint", endpoint, "--json", ...more];
    const env = {
      ...{ R2_ACCESS_KEY_ID: accessKeyId, R2_SECRET_ACCESS_KEY: secretAccessKey },
      ...{
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        AWS_ENDPOINT_URL_S3: ofRegion.access.endpoint,
      },
    };
    const outcome = await start(args, { cwd: root, env });
    for (const secret of Object.values(secrets)) expect(outcome.stdout + outcome.stderr).not.toContain(secret);
    return outcome;
  }
  async function deploy(...more: string[]) {
    const { code, stdout, stderr } = await run(runCommandLine, more);
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout) as Report;
    return { ...report, states: report.steps.map(({ state }) => state) };
  }
  /** Starts the command as a process, which a stand-in kills. Returns its exit code. */
  const killed = async () => (await run(bertEdge)).code;
  return { root, url, wrangler, ofRegion: ofRegion.access, deploy, killed };
}

it("bert-edge deploy plans, deploys and checks, and the second run changes nothing", async () => {
  const { url, wrangler, deploy } = await project({ API_KEYS: KEY });
  const plan = await deploy("--dry-run");
  expect(plan.states).toEqual(["planned", "planned", "planned", "planned"]);
  expect(plan.cost.plans.map(({ costPerMillion }) => costPerMillion)).toEqual([0, expect.any(Number)]);
  expect(await wrangler.changes()).toEqual([]);

  const first = await deploy();
  expect(first.states).toEqual(["done", "done", "done", "done"]);
  expect(first.check).toMatchObject({ ok: true, url });
  const changes = await wrangler.changes();

  const second = await deploy();
  expect(second.states).toEqual(["kept", "kept", "kept", "kept"]);
  expect(second.check?.ok).toBe(true);
  expect(await wrangler.changes()).toEqual(changes);
});

// It deploys ten times, each with dry runs of the real wrangler: 20 seconds if nothing else runs.
it("bert-edge deploy with a region continues after SIGKILL behind every step", { timeout: 300_000 }, async () => {
  const secrets = {
    ...{ API_KEYS: KEY, REGION_KEY: "key-of-the-region" },
    ...{ REGION_AWS_ACCESS_KEY_ID: "access-key-of-the-edge", REGION_AWS_SECRET_ACCESS_KEY: "secret-of-the-edge" },
  };
  const { root, wrangler, ofRegion, deploy, killed } = await project(secrets);
  const osls = await oslsStandIn(root);
  await osls.change({ bucket: ofRegion.bucket });
  await cp("serverless.yml", join(root, "serverless.yml"));

  const plan = await deploy("--dry-run");
  expect(plan.steps.map(({ name }) => name)).toEqual([
    ...["bucket", "model", "region", "region model", "secrets", "worker"],
  ]);
  expect(plan.cost.plans.map(({ name }) => name)).toContain("AWS Lambda, 2048 MB");

  // Each call comes right behind a step.
  const kills = [
    [wrangler, "r2 bucket create"],
    [osls, "package"],
    [osls, "deploy"],
    [wrangler, "secret list"],
    [wrangler, "secret bulk"],
    [wrangler, "deploy functions/edge.ts --tag"],
  ] as const;
  for (const [tool, killAfter] of kills) {
    await tool.change({ killAfter });
    expect(await killed(), killAfter).toBeNull();
    await tool.change({ killAfter: undefined });
  }
  // The URL was lost with the last kill, so the Worker is deployed again.
  expect((await deploy()).states).toEqual(["kept", "kept", "kept", "kept", "kept", "done"]);
  expect((await osls.state()).packages).toHaveLength(1);
  expect(await readPointer(s3Store(ofRegion), "bert-edge-mini")).toMatchObject({ version: expect.any(String) });
  expect((await wrangler.state()).secrets).toEqual({ ...secrets, REGION_URL: REGION_STAND_IN_URL });
  const changes = [await wrangler.changes(), await osls.changes()];
  expect((await deploy()).states).toEqual(["kept", "kept", "kept", "kept", "kept", "kept"]);
  expect([await wrangler.changes(), await osls.changes()]).toEqual(changes);
  const calls = [...(await wrangler.calls()), ...(await osls.calls())].map(({ args }) => args.join(" ")).join("\n");
  for (const secret of Object.values(secrets)) expect(calls).not.toContain(secret);
});
