import { setTimeout as sleep } from "node:timers/promises";
import { embed } from "./embed.ts";
import { quantile } from "./load/statistics.ts";

/** A tier is idle when it answers one word in this time. */
const IDLE_MS = 40;
const LIMIT_MS = 120_000;
const REQUESTS = 20;

/** Time of a request without a budget, which an idle tier answers itself. */
const msOf = async (url: string, inputs: readonly string[]): Promise<number> => (await embed(url, inputs)).ms;

/** Waits until all tiers answer one word at once. Work that was left over from a run is then done. */
export async function settle(urls: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + LIMIT_MS;
  for (const url of urls) {
    while ((await msOf(url, ["settle"])) > IDLE_MS) {
      if (performance.now() > giveUpAt) throw new Error(`${url} is still busy after ${LIMIT_MS} ms.`);
      await sleep(IDLE_MS);
    }
  }
}

/** Returns the median time of one request on an idle tier, in ms. */
export async function idleMs(url: string, inputs: readonly string[], requests = REQUESTS): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) times.push(await msOf(url, inputs));
  return quantile(times, 0.5);
}
