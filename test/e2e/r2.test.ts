import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getPlatformProxy } from "wrangler";
import { freePort, packageFile, type Service, startService } from "#sdk/cli/dev/process.ts";
import { BertEdge, UnavailableError } from "#sdk/client/index.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { preparedDefault } from "../fixtures/prepared-default.ts";
import { type TestBucket, testBucketStore } from "../fixtures/r2.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";

/** Prepares a model whose attention heads have size 2. Our engine has no kernel for this size. */
async function preparedForOrtWeb(folder: string): Promise<string> {
  const [checkpoint, out] = [join(folder, "checkpoint"), join(folder, "artifact")];
  await mkdir(checkpoint);
  await writePreparableCheckpoint(checkpoint, { config: { num_attention_heads: 8 } });
  await prepare({ model: checkpoint, out, name: "bert-edge-mini", targets: ["edge"] });
  return out;
}

const workers = [
  { engine: "wasm", script: [], artifact: preparedDefault },
  { engine: "ort-web", script: ["functions/edge-ort-web.ts"], artifact: preparedForOrtWeb },
];

/** Runs the Workers of wrangler.toml as deployed: in workerd, with the R2 binding, without a region. */
describe.each(workers)("the edge with an R2 binding and $engine", ({ engine, script, artifact }) => {
  let folder: string;
  let prepared: Awaited<ReturnType<typeof openFolder>>;
  let worker: Service;
  let edge: BertEdge;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-r2-"));
    prepared = await openFolder(await artifact(folder));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    worker = await startService({
      name: "wrangler dev",
      script: packageFile(process.cwd(), "wrangler/bin/wrangler.js"),
      args: [
        ...[
          "dev",
          ...script,
          "--local",
          "--ip",
          "127.0.0.1",
          "--port",
          `${port}`,
          "--inspector-port",
          `${await freePort()}`,
        ],
        ...["--persist-to", folder, "--var", "API_KEYS:first,second", "--show-interactive-dev-session=false"],
      ],
      cwd: process.cwd(),
      env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
      ready: { url: `${url}/health`, status: 200, withinMs: 60_000 },
    });
    edge = new BertEdge({ baseURL: url, apiKey: "second" });
  });
  afterAll(async () => {
    await worker?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("reports that the model is unavailable before it is published", async () => {
    const failure = await edge.embed("too early").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).toMatchObject({ status: 503, code: "model_unavailable" });
  });

  it("answers after its model is published, without a restart", async () => {
    expect(prepared.manifest.targets.edge?.engine).toBe(engine);
    const { env, dispose } = await getPlatformProxy<{ MODELS: TestBucket }>({ persist: { path: join(folder, "v3") } });
    const { version } = await publish(prepared, testBucketStore(env.MODELS));
    await dispose();

    const answer = await edge.embed(["the model is there", "and answers"], { latencyBudgetMs: 1 });
    expect(answer).toMatchObject({ model: "bert-edge-mini", version, tier: "edge", reason: "only-tier" });
    for (const vector of answer.embeddings) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });
});
