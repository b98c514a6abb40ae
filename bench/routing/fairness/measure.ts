import { setTimeout as sleep } from "node:timers/promises";
import type { Tier } from "#sdk/serve/contract/headers.ts";
import type { Flooded } from "#test/callers/flood.ts";
import { type Called, startFlood, startSteady } from "#test/callers/process.ts";
import { residentBytes } from "#test/soak/child-process.ts";
import { type FairDeployment, FLOOD_KEY, GOOD_KEY } from "./deployment.ts";

/** Milliseconds between two requests of the good caller. */
const EVERY_MS = 50;
/** Milliseconds of the flood before the good caller begins. */
const HEAD_START_MS = 1_000;
const SAMPLE_MS = 250;
const MB = 1e6;

export interface Load {
  /** 0 for the good caller alone. */
  readonly clients: number;
  readonly slowClients: number;
  readonly budgetMs: number | undefined;
  readonly durationMs: number;
}

/** Figures of a run. */
export interface Measured {
  readonly good: Called;
  /** Undefined if the good caller was alone. */
  readonly flood: Called<Flooded> | undefined;
  /** Peak resident memory of each tier in MB. */
  readonly residentMB: Readonly<Partial<Record<Tier, number>>>;
  /** Tiers whose process has ended. */
  readonly crashed: readonly string[];
  /** Requests for which the edge gave the region up. */
  readonly regionFailed: number;
}

/** Sends the requests of the good caller beside a flood. */
export async function measure(
  { url, pids, log, right, rightBeginnings }: FairDeployment,
  load: Load,
): Promise<Measured> {
  const { clients, slowClients, budgetMs, durationMs } = load;
  const logged = log.length;
  const tiers = Object.entries(pids);
  const peaks = new Map<string, number>();
  const look = async () => {
    for (const [tier, pid] of tiers)
      peaks.set(tier, Math.max(peaks.get(tier) ?? 0, (await residentBytes(`${pid}`)) / MB));
  };
  const access = (key: string) => ({ url, key });
  const others =
    clients > 0
      ? startFlood({ access: access(FLOOD_KEY), clients, slowClients, budgetMs, right, rightBeginnings })
      : undefined;
  if (others) await sleep(HEAD_START_MS);
  const { called } = startSteady({ access: access(GOOD_KEY), everyMs: EVERY_MS, durationMs, budgetMs, right });
  let isOver = false;
  const ended = called.finally(() => {
    isOver = true;
  });
  for (; !isOver; await Promise.race([sleep(SAMPLE_MS), ended])) await look();
  const good = await ended;
  others?.stop();
  const flood = await others?.called;
  const crashed: string[] = [];
  for (const [tier, pid] of tiers) if ((await residentBytes(`${pid}`)) === 0) crashed.push(tier);
  return {
    good,
    flood,
    residentMB: Object.fromEntries(peaks),
    crashed,
    regionFailed: log.slice(logged).filter((line) => line.includes("region_failed")).length,
  };
}
