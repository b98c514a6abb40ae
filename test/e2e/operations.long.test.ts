import { createHash } from "node:crypto";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { clockedEdge } from "../fixtures/clocked-edge.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { waitFor } from "../fixtures/wait-for.ts";

/** Options of the Worker. */
const options = `
  models: (env) => r2Store(env.MODELS),
  model: "tiny",
  keys: (env) => keysFromEnv(env, r2Store(env.MODELS)),
  rateLimit: (env) => ({ requestsPerMinute: 1_000, binding: env.RATE_LIMITER }),
  cache: () => ({ store: caches.default }),
  cors: true,
  metrics: true`;

const LIMIT = 6;
const hashed = (key: string, name: string) => `${name}:sha256:${createHash("sha256").update(key).digest("hex")}`;

/** Keys of all tests. */
const keys = [hashed("first-key", "one"), hashed("second-key", "two"), "third-key"];

let worker: Miniflare;
let bucket: WritableR2Bucket & { put(key: string, text: string): Promise<unknown> };
beforeAll(async () => {
  worker = new Miniflare(
    convertV4MiniflareOptions({
      modules: await clockedEdge(options),
      modulesRoot: "/",
      compatibilityDate: "2026-11-01",
      bindings: { KEYS_OBJECT: "keys.txt" },
      r2Buckets: ["MODELS"],
      ratelimits: { RATE_LIMITER: { namespace_id: "1", simple: { limit: LIMIT, period: 60 } } },
      host: "127.0.0.1",
      port: 0,
    }),
  );
  bucket = (await worker.getR2Bucket("MODELS")) as unknown as typeof bucket;
  await publish(await openFolder(await preparedTiny()), r2Publisher(bucket));
  await bucket.put("keys.txt", [...keys, "removed-key"].join("\n"));
  // Whatever route a cold isolate is asked first, it loads the model to the end.
  await waitFor(async () => expect(await (await get("/metrics")).text()).toContain("bert_edge_model_info{"));
});
afterAll(() => worker?.dispose());

const get = async (path: string) => fetch(new URL(path, await worker.ready));

async function embed(text: string, key: string) {
  const response = await fetch(new URL("/v1/embed", await worker.ready), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", origin: "https://page.example" },
    body: JSON.stringify({ inputs: text }),
  });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as { embeddings?: object },
  };
}

it("repeats answers through the Cache API, for each key by itself", async () => {
  const first = await embed("where is the mill?", "first-key");
  expect([first.status, first.headers.get("x-bert-edge-cache")]).toEqual([200, "miss"]);
  await waitFor(async () => {
    const again = await embed("where is the mill?", "first-key");
    expect([again.headers.get("x-bert-edge-cache"), again.json]).toEqual(["hit", first.json]);
    expect(again.headers.get("access-control-allow-origin")).toBe("*");
  });
  const other = await embed("where is the mill?", "second-key");
  expect([other.headers.get("x-bert-edge-cache"), other.json.embeddings]).toEqual(["miss", first.json.embeddings]);
});

it("limits each key through the rate-limiting binding", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < LIMIT + 1; i++) statuses.push((await embed(`text ${i}`, "third-key")).status);
  expect(statuses).toEqual([...Array(LIMIT).fill(200), 429]);
  const refused = await embed("text", "third-key");
  expect([refused.headers.get("retry-after"), refused.json]).toMatchObject(["60", { error: { code: "rate_limited" } }]);
  expect((await embed("text", "second-key")).status).toBe(200);
});

it("reads keys again after a minute, without a new deployment", async () => {
  expect((await embed("text", "removed-key")).status).toBe(200);
  await bucket.put("keys.txt", [...keys, hashed("fourth-key", "four")].join("\n"));
  expect((await embed("text", "fourth-key")).status).toBe(401);
  await get("/minute-later");
  expect((await embed("text", "fourth-key")).status).toBe(200);
  expect((await embed("text", "removed-key")).status).toBe(401);
});
