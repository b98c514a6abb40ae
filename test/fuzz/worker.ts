// Makes the attempts of one part of the seeds, in a thread of its own. Writes each seed into shared memory, so that a hang has a seed.
import { parentPort, workerData } from "node:worker_threads";
import { attemptOnce, noOutcomes } from "./attempts.ts";
import { targets } from "./targets.ts";

export interface Part {
  readonly target: string;
  /** First seed, number of seeds, and distance between them. */
  readonly first: number;
  readonly count: number;
  readonly step: number;
  /** The current seed. */
  readonly seed: Int32Array<SharedArrayBuffer>;
}

const { target, first, count, step, seed } = workerData as Part;
// What the tested code logs is no finding.
console.error = () => {};
const attempt = await targets[target]?.start();
const outcomes = noOutcomes();
for (let i = 0; attempt && i < count; i++) {
  seed[0] = first + i * step;
  await attemptOnce(attempt, first + i * step, outcomes);
}
parentPort?.postMessage(outcomes);
