import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clockedEdge } from "../fixtures/clocked-edge.ts";
import { deployedCompatibility, startDirectEdge } from "../fixtures/direct-edge.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import { startRegionProcess } from "../fixtures/region-process.ts";
import type { ServedTier } from "../fixtures/served-tiers.ts";
import { startEmbed } from "../fixtures/start-embed.ts";
import { type PublishedModel, publishedModel } from "./published-model.ts";

const KEY = "key";
/** The flag with which a Worker hears that a client has reset its connection. */
const FLAG = "enable_request_signal";
const REQUESTS = 24;

/** Three texts of 180 words. The engine computes them in several calls, between which it can stop. */
const texts = Array<string>(3).fill("The wheel still turns whenever the sluice is open. ".repeat(20));

let published: PublishedModel;
let env: Record<string, string>;
let modules: Awaited<ReturnType<typeof clockedEdge>>;

beforeAll(async () => {
  [published, modules] = await Promise.all([publishedModel(), clockedEdge("...settings, metrics: true")]);
  env = { MODEL: published.manifest.name, API_KEYS: KEY, METRICS: "true", ...s3Env(published.access) };
});
afterAll(() => published?.stop());

/** Tiers that run already, by their names. */
const running = new Map<string, Promise<ServedTier>>();
afterAll(() => Promise.all([...running.values()].map(async (tier) => (await tier).stop())));

const withoutFlag = deployedCompatibility().flags.filter((flag) => flag !== FLAG);
const starts = {
  edge: () => startDirectEdge({ modules, env }),
  "edge without the flag": () => startDirectEdge({ modules, env, compatibilityFlags: withoutFlag }),
  region: () => startRegionProcess({ env }),
} satisfies Record<string, () => Promise<ServedTier>>;

function runningTier(name: keyof typeof starts): Promise<ServedTier> {
  const tier = running.get(name) ?? starts[name]();
  running.set(name, tier);
  return tier;
}

/** Requests that a tier has answered since it started. */
async function answeredBy({ url }: ServedTier): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return [...metrics.matchAll(/^bert_edge_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

/**
 * Sends requests at once, abandons all of them, and then sends one like them, which is answered after those that are not given up.
 *
 * @returns a function that counts the abandoned requests that were computed to their end
 */
async function computedAfter(by: "reset" | "close", name: keyof typeof starts): Promise<() => Promise<number>> {
  const tier = await runningTier(name);
  const access = { url: tier.url, key: KEY };
  const before = await answeredBy(tier);
  const posts = Array.from({ length: REQUESTS }, () => startEmbed(access, texts));
  const ended = posts.map(({ reply }) => reply.catch(() => {}));
  await Promise.all(posts.map(({ sent }) => sent));
  // A tier that answers this request has read the earlier ones.
  await answeredBy(tier);
  for (const post of posts) post[by]();
  await Promise.all(ended);
  await startEmbed(access, texts).reply;
  return async () => (await answeredBy(tier)) - before - 1;
}

/** A tier computes one request after the other: some of them while the others arrive. */
const MAX_COMPUTED = 0.6 * REQUESTS;

describe("requests whose clients have gone", () => {
  it.each([
    ["the edge in workerd, whose clients reset", "reset", "edge"],
    ["the region, whose clients reset", "reset", "region"],
    ["the region, whose clients close", "close", "region"],
  ] as const)("are given up by %s", async (_, by, name) => {
    const computed = await computedAfter(by, name);
    expect(await computed()).toBeLessThan(MAX_COMPUTED);
  });

  it(`are computed to their end by the edge without the compatibility flag ${FLAG}`, async () => {
    await expect.poll(await computedAfter("reset", "edge without the flag"), { timeout: 60_000 }).toBe(REQUESTS);
  });
});
