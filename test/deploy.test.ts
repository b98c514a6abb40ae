import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { expect, it, onTestFinished } from "vitest";
import type { CheckReport } from "#sdk/cli/check/check-deployment.ts";
import type { StepReport } from "#sdk/cli/deploy/run-steps.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import { bertEdge } from "./fixtures/bert-edge-command.ts";
import { startObjectStorage } from "./fixtures/object-storage.ts";
import { preparable } from "./fixtures/preparable.ts";
import { serve } from "./fixtures/serve.ts";
import { wranglerStandIn } from "./fixtures/wrangler-stand-in.ts";

interface Report {
  steps: StepReport[];
  url: string;
  cost: { plans: { name: string; costPerMillion?: number }[] };
  check?: CheckReport;
}

const KEY = "key-of-the-deployment";

it("bert-edge deploy plans, deploys and checks, and the second run changes nothing", async () => {
  const { out: artifact, parent: root, run } = await preparable();
  await run({ name: "bert-edge-mini", targets: ["edge"] });
  const storage = await startObjectStorage();
  onTestFinished(() => storage.stop());
  const { bucket, endpoint, accessKeyId, secretAccessKey } = storage.access;

  // What the deployed Worker would be: it reads the model that `deploy` publishes.
  const engine = await engineOnThisMachine("wasm");
  const app = createEdgeApp({ models: s3Store(storage.access), model: "bert-edge-mini", engine, keys: [KEY] });
  const url = await serve(getRequestListener(app.fetch));

  const standIn = await wranglerStandIn(root);
  await standIn.change({ url });
  await mkdir(join(root, "functions"));
  await cp("functions/edge.ts", join(root, "functions/edge.ts"));
  const config = await readFile("wrangler.toml", "utf8");
  await writeFile(join(root, "wrangler.toml"), config.replace("bert-edge-models", bucket));
  await writeFile(join(root, "secrets"), `API_KEYS=${KEY}\n`);

  async function deploy(...more: string[]) {
    const args = ["deploy", "--model", artifact, "--secrets", "secrets", "--endpoint", endpoint, "--json", ...more];
    const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    const { code, stdout, stderr } = await bertEdge(args, { cwd: root, env });
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain(KEY);
    const report = JSON.parse(stdout) as Report;
    return { ...report, states: report.steps.map(({ state }) => state) };
  }

  const plan = await deploy("--dry-run");
  expect(plan.states).toEqual(["planned", "planned", "planned", "planned"]);
  expect(plan.cost.plans.map(({ costPerMillion }) => costPerMillion)).toEqual([0, expect.any(Number)]);
  expect(await standIn.changes()).toEqual([]);

  const first = await deploy();
  expect(first.states).toEqual(["done", "done", "done", "done"]);
  expect(first.check).toMatchObject({ ok: true, url });
  const changes = await standIn.changes();

  const second = await deploy();
  expect(second.states).toEqual(["kept", "kept", "kept", "kept"]);
  expect(second.check?.ok).toBe(true);
  expect(await standIn.changes()).toEqual(changes);
});
