import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { withManifest } from "../fixtures/with-manifest.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

const NAMES = ["first", "second", "third"];
const REQUESTS = 1_000;
/** Requests at a time. */
const CLIENTS = 4;

/** A Worker that serves three models and has memory for two. It counts the WebAssembly memory of all loaded models. */
const worker = `
import { wasmEngine } from "bert-edge/engine/wasm";
import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { createEdgeApp } from "bert-edge/serve";
import { r2Store } from "bert-edge/storage/r2";

const engine = wasmEngine({ relaxed, simd });
const sessions = new Set();
let [loads, peak] = [0, 0];
const counting = {
  ...engine,
  async load(source) {
    const session = await engine.load(source);
    loads++;
    sessions.add(session);
    const run = async (...given) => {
      const results = await session.run(...given);
      peak = Math.max(peak, [...sessions].reduce((sum, each) => sum + each.memoryBytes(), 0));
      return results;
    };
    const release = async () => {
      sessions.delete(session);
      await session.release();
    };
    return { ...session, run, release, memoryBytes: () => session.memoryBytes() };
  },
};
const app = createEdgeApp({
  model: (env) => env.MODEL.split(","),
  models: (env) => r2Store(env.MODELS),
  memoryLimitBytes: LIMIT,
  keys: ["k"],
  log: false,
  engine: counting,
});
app.get("/loads", (c) => c.json({ loads, peak, loaded: sessions.size }));
export default app;
`;

describe("three models with memory for two, in workerd", () => {
  let edge: Miniflare;
  let url: string;
  let limit: number;
  beforeAll(async () => {
    const artifact = await openFolder(await preparedTiny());
    const artifacts = await Promise.all(NAMES.map((name) => withManifest(artifact, { name })));
    const needed = artifact.measurements.edge?.memory?.peak ?? 0;
    limit = Math.ceil(2.5 * needed);
    const contents = worker.replace("LIMIT", `${limit}`);
    edge = new Miniflare(
      convertV4MiniflareOptions({
        modules: await workerModules({ stdin: { contents, loader: "ts", resolveDir: process.cwd() } }),
        modulesRoot: "/",
        compatibilityDate: "2026-11-01",
        bindings: { MODEL: NAMES.join(",") },
        r2Buckets: ["MODELS"],
        host: "127.0.0.1",
        port: 0,
      }),
    );
    url = (await edge.ready).origin;
    const bucket = r2Publisher((await edge.getR2Bucket("MODELS")) as unknown as WritableR2Bucket);
    for (const artifact of artifacts) await publish(artifact, bucket);
  });
  afterAll(() => edge?.dispose());

  const embed = async (model: string) => {
    const response = await fetch(`${url}/models/${model}/v1/embed`, {
      method: "POST",
      headers: { authorization: "Bearer k", "content-type": "application/json" },
      body: JSON.stringify({ inputs: "to be or not to be" }),
    });
    return { status: response.status, answer: (await response.json()) as { model: string; embeddings: number[][] } };
  };

  it("answers 1,000 requests with the right model, unloads models more than 100 times, and stays below the limit", async () => {
    const { answer } = await embed(NAMES[0] as string);
    const [vector] = answer.embeddings;
    const random = randomNumbers(7);
    const wrong: unknown[] = [];
    let left = REQUESTS;
    const client = async () => {
      while (left-- > 0) {
        const name = NAMES[Math.floor(random() * NAMES.length)] as string;
        const { status, answer } = await embed(name);
        const isRight = status === 200 && answer.model === name && `${answer.embeddings[0]}` === `${vector}`;
        if (!isRight) wrong.push({ status, answer });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const counted = (await (await fetch(`${url}/loads`)).json()) as { loads: number; peak: number; loaded: number };
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(counted.loads).toBeGreaterThan(100);
    expect(counted.peak).toBeLessThanOrEqual(limit);
    expect(counted.loaded).toBeLessThanOrEqual(2);
  });
});
