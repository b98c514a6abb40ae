import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Scenario, ScenarioResult } from "./scenario.ts";

/** Space for young objects, in MB. Most objects live as long as a request, and no longer. */
const YOUNG_MB = 192;

/** Runs scenarios in threads, and returns their results in the same order. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  report: (done: number) => void,
): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = new Array(scenarios.length);
  const queue = scenarios.entries();
  let done = 0;
  async function runNext(): Promise<void> {
    for (const [index, scenario] of queue) {
      const worker = new Worker(new URL("worker.ts", import.meta.url), {
        workerData: scenario,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB, maxOldGenerationSizeMb: 8_192 },
      });
      const [result] = await once(worker, "message");
      results[index] = result;
      report(++done);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, runNext));
  return results;
}
