import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { UnavailableError } from "#sdk/client/errors.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { bertEdge } from "../fixtures/bert-edge-command.ts";
import { preparedDefault } from "../fixtures/prepared.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { type RunningWrangler, type UserProject, userProject, wranglerDev } from "./project.ts";

/** The key in .dev.vars.example. */
const KEY = "local-key";

/** Prepares a model whose attention heads have size 2. Our engine has no kernel for this size. */
const preparedForOrtWeb = () => preparedTiny(["edge"], { name: "bert-edge-mini", config: { num_attention_heads: 8 } });

const workers = [
  { engine: "wasm", script: [], artifact: preparedDefault },
  { engine: "ort-web", script: ["functions/edge-ort-web.ts"], artifact: preparedForOrtWeb },
];

/** Runs the Workers as `wrangler dev` runs them in a project: in workerd, with the R2 binding, without a region. */
describe.each(workers)("stock `wrangler dev` with $engine", ({ engine, script, artifact }) => {
  let project: UserProject;
  let prepared: string;
  let worker: RunningWrangler;
  let edge: BertEdge;
  let log = "";

  beforeAll(async () => {
    project = await userProject();
    prepared = await artifact();
    const onOutput = (text: string) => {
      log += text;
    };
    worker = await wranglerDev(project.root, { args: script, onOutput });
    edge = new BertEdge({ baseURL: worker.url, apiKey: KEY });
  });
  afterAll(async () => {
    await worker?.stop();
    await project?.remove();
  });

  it("reports that the model is unavailable, logs what to run, and answers after `bert-edge publish`, without a restart", async () => {
    // Each retry would wait for a second, and the model does not come.
    const impatient = new BertEdge({ baseURL: worker.url, apiKey: KEY, maxRetries: 0 });
    const failure = await impatient.embed("too early").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).toMatchObject({ status: 503, code: "model_unavailable" });
    await expect.poll(() => log).toContain("bert-edge publish <artifact> --to r2-local:");

    const { manifest, version } = await openFolder(prepared);
    expect(manifest.targets.edge?.engine).toBe(engine);
    const published = await bertEdge(["publish", prepared, "--to", "r2-local:bert-edge-models"], { cwd: project.root });
    expect(published).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`bert-edge-mini@${version} is current at r2-local(bert-edge-models)`),
    });

    const answer = await edge.embed(["the model is there", "and answers"], { latencyBudgetMs: 60_000 });
    expect(answer).toMatchObject({ model: "bert-edge-mini", version, tier: "edge", reason: "only-tier" });
    for (const vector of answer.embeddings) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });
});

it("`bert-edge publish` refuses a bucket that `wrangler dev` does not see", async () => {
  const project = await userProject();
  onTestFinished(project.remove);
  const args = ["publish", await preparedTiny(), "--to", "r2-local:elsewhere"];
  const { code, stderr } = await bertEdge(args, { cwd: project.root });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("r2-local:bert-edge-models") });
});
