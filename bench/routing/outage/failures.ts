import { setTimeout as sleep } from "node:timers/promises";
import { type Context, KEY } from "../context.ts";
import { settle } from "../idle.ts";
import type { LoadJob } from "../load/job.ts";
import { type LoadSummary, summarize } from "../load/summarize.ts";
import { startRegion, startTiers } from "../tiers.ts";

const CLIENTS = 8;
const BUDGET_MS = 100;
const SLOWNESS = 10;

export interface FailureResult {
  readonly name: string;
  readonly summary: LoadSummary;
}

/** Measures a load while the region fails and comes back. Each event happens in the middle of a measured window. */
export async function measureFailures(context: Context): Promise<FailureResult[]> {
  const { generator, options, stage } = context;
  const { seconds, seed } = options;
  await using tiers = await startTiers(context);
  const { edge, proxy } = tiers;
  let { region } = tiers;
  const events: Readonly<Record<string, () => Promise<void> | void>> = {
    healthy: () => {},
    async killed() {
      proxy.change({ isDown: true });
      await region.stop();
    },
    async restarted() {
      region = await startRegion(context);
      proxy.leadTo(region.url);
      proxy.change({});
    },
    "healthy again": () => {},
    [`slowed ${SLOWNESS} times`]: () => proxy.change({ slowness: SLOWNESS }),
    "fast again": () => proxy.change({}),
    silent: () => proxy.change({ impostor: () => {} }),
    "all connections reset": () => proxy.change({ resets: 1 }),
    recovered: () => proxy.change({}),
  };
  const results: FailureResult[] = [];
  try {
    for (const [name, happen] of Object.entries(events)) {
      stage(`region ${name}`);
      const job: LoadJob = {
        url: edge.url,
        key: KEY,
        traffic: { loop: "closed", clients: CLIENTS },
        length: "long",
        budgetMs: BUDGET_MS,
        pin: undefined,
        seed,
        warmMs: 0,
        measuredMs: 1000 * seconds,
      };
      const happened = sleep(job.measuredMs / 2).then(happen);
      const summary = summarize(job, await generator.run(job));
      await happened;
      results.push({ name, summary });
      await settle([edge.url]);
    }
    return results;
  } finally {
    await region.stop();
  }
}
