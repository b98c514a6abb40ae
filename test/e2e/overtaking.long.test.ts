import { afterAll, beforeAll, expect, it } from "vitest";
import { startDirectEdge } from "../fixtures/direct-edge.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import { startRegionProcess } from "../fixtures/region-process.ts";
import { startEmbed } from "../fixtures/start-embed.ts";
import { workerModules } from "../fixtures/worker-modules.ts";
import { type PublishedModel, publishedModel } from "./published-model.ts";

const KEY = "key";
/** Together they take far less than 30 s also on a busy machine: a deployment refuses longer waits without a budget. */
const LARGE_REQUESTS = 3;
const SMALL_REQUESTS = 6;
/** Enough for a busy machine. */
const BUDGET_MS = "20000";

/** A text of the model's maximum length. The engine computes it in one call, which nothing can interrupt. */
const longText = "The wheel still turns whenever the sluice is open. ".repeat(28);
const large = Array<string>(40).fill(longText);

let published: PublishedModel;
let env: Record<string, string>;

beforeAll(async () => {
  published = await publishedModel();
  env = { MODEL: published.manifest.name, API_KEYS: KEY, ...s3Env(published.access) };
});
afterAll(() => published?.stop());

const edge = async () => startDirectEdge({ modules: await workerModules({ entryPoints: ["functions/edge.ts"] }), env });
const region = async () => startRegionProcess({ env });

it.each([
  ["the edge in workerd", edge],
  ["the region", region],
])("small requests with a budget overtake large ones without at %s", async (_, start) => {
  const tier = await start();
  try {
    const access = { url: tier.url, key: KEY };
    let ended = 0;
    const requests = Array.from({ length: LARGE_REQUESTS }, () => startEmbed(access, large));
    for (const { reply } of requests) reply.catch(() => {}).finally(() => ended++);
    await Promise.all(requests.map(({ sent }) => sent));
    // None waits for a large request to end.
    for (let i = 0; i < SMALL_REQUESTS; i++) {
      const { status } = await startEmbed(access, ["word"], { "x-latency-budget-ms": BUDGET_MS }).reply;
      expect(status).toBe(200);
    }
    expect(ended).toBe(0);
    // A tier that stops would first compute them.
    for (const request of requests) request.reset();
  } finally {
    await tier.stop();
  }
});
