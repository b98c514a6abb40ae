import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { poissonArrivals } from "./arrivals.ts";
import { loadClient } from "./ask.ts";
import type { LoadJob, LoadRun } from "./job.ts";

/** Every fourth client ignores Retry-After and sends its next request at once. */
const isImpatient = (client: number): boolean => client % 4 === 3;

/** Resolution of the measured delay of timers, in ms. */
const RESOLUTION = 1;

/** Sends the requests of a job from this process. */
export async function runLoad(job: LoadJob): Promise<LoadRun> {
  const { traffic, seed, warmMs, measuredMs } = job;
  const lag = monitorEventLoopDelay({ resolution: RESOLUTION });
  lag.enable();
  const client = loadClient(job);
  const isOver = () => client.now() >= measuredMs;

  async function closedLoop(index: number): Promise<void> {
    for (let turn = 0; !isOver(); turn++) {
      const waitMs = await client.ask(index, turn);
      if (waitMs === undefined || isImpatient(index)) continue;
      await sleep(Math.min(waitMs, Math.max(0, measuredMs - client.now())));
    }
  }
  async function openLoop(perSecond: number): Promise<void> {
    const arrivals = poissonArrivals(perSecond, warmMs + measuredMs, randomNumbers(seed));
    for (const [index, time] of arrivals.entries()) {
      const at = time - warmMs;
      // A timer is late by up to a millisecond, so several requests can be due.
      const early = at - client.now();
      if (early > 0) await sleep(early);
      void client.ask(index, 0, at);
    }
  }

  if (traffic.loop === "open") await openLoop(traffic.perSecond);
  else for (let index = 0; index < traffic.clients; index++) void closedLoop(index);
  await sleep(Math.max(0, measuredMs - client.now()));
  const samples = await client.end();
  lag.disable();
  return { samples, lagMs: lag.percentile(99) / 1e6 - RESOLUTION };
}
