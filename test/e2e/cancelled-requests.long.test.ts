import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { abandonRequests } from "../fixtures/abandon-requests.ts";
import { deployedCompatibility, startDirectEdge } from "../fixtures/direct-edge.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import { startRegionProcess } from "../fixtures/region-process.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import type { ServedTier } from "../fixtures/served-tiers.ts";
import { startEmbed } from "../fixtures/start-embed.ts";
import { workerModules } from "../fixtures/worker-modules.ts";
import { type PublishedModel, publishedModel } from "./published-model.ts";

const KEY = "key";
/** The flag with which a Worker hears that a client has reset its connection. */
const FLAG = "enable_request_signal";
const REQUESTS = 50;

/** Three texts of 180 words. The engine computes them in several calls, between which it can stop. */
const texts = Array<string>(3).fill("The wheel still turns whenever the sluice is open. ".repeat(20));

let published: PublishedModel;
let env: Record<string, string>;
let modules: Awaited<ReturnType<typeof workerModules>>;

beforeAll(async () => {
  [published, modules] = await Promise.all([publishedModel(), workerModules({ entryPoints: ["functions/edge.ts"] })]);
  env = { MODEL: published.manifest.name, API_KEYS: KEY, ...s3Env(published.access) };
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

/**
 * Abandons requests, and then sends a request for one word and one like the abandoned ones.
 *
 * @returns the times of both, as multiples of the time that a request like the abandoned ones takes on an idle tier
 */
async function delaysAfter(by: "reset" | "close", name: keyof typeof starts): Promise<{ word: number; same: number }> {
  const access = { url: (await runningTier(name)).url, key: KEY };
  const msOf = async (inputs: readonly string[]) => (await startEmbed(access, inputs).reply).ms;
  const times: number[] = [];
  for (let i = 0; i < 5; i++) times.push(await msOf(texts));
  const wholeMs = times.toSorted((a, b) => a - b)[2] as number;
  await abandonRequests(access, { requests: REQUESTS, inputs: texts, wholeMs, by, random: randomNumbers(1) });
  const [word, same] = await Promise.all([msOf(["word"]), msOf(texts)]);
  return { word: word / wholeMs, same: same / wholeMs };
}

/**
 * The next request waits for one call of the engine, or for all abandoned requests where they are computed to their end
 * (about 50 times the time of one). The bound is between the two, because the machine may be busy with other tests.
 * `npm run bench -- routing` measures the exact delay.
 */
const MAX_DELAY = REQUESTS / 5;

describe("after requests whose clients have gone", () => {
  it.each([
    ["the edge in workerd, whose clients reset", "reset", "edge"],
    ["the region, whose clients reset", "reset", "region"],
    ["the region, whose clients close", "close", "region"],
  ] as const)("the next request is computed at once by %s", async (_, by, name) => {
    const { word, same } = await delaysAfter(by, name);
    expect(word).toBeLessThan(MAX_DELAY);
    expect(same).toBeLessThan(MAX_DELAY);
  });

  it(`the edge computes them to their end without the compatibility flag ${FLAG}`, async () => {
    const { same } = await delaysAfter("reset", "edge without the flag");
    expect(same).toBeGreaterThan(MAX_DELAY);
  });
});
