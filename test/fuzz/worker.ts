// Makes the attempts of one part of the seeds, in a thread of its own. Writes each seed into shared memory, so that a hang has a seed.
import { parentPort, workerData } from "node:worker_threads";
import { attemptOnce, noOutcomes, type Outcomes } from "./attempts.ts";
import { targets } from "./targets.ts";

export interface Part {
  readonly target: string;
  /** First seed, the seed after the last one, and the distance between seeds. */
  readonly first: number;
  readonly end: number;
  readonly step: number;
  /** The current seed; NaN before the first attempt. */
  readonly seed: Float64Array<SharedArrayBuffer>;
}

/** Outcomes since the last message. */
export interface Message {
  readonly outcomes: Outcomes;
  readonly isLast: boolean;
}

/** Attempts whose outcomes are lost when the thread dies. */
const ATTEMPTS = 100;

const { target, first, end, step, seed } = workerData as Part;
// What the tested code logs is no finding.
console.error = () => {};
const chosen = targets[target];
if (!chosen) throw new Error(`There is no target ${target}.`);
const trial = { attempt: await chosen.start(), refusals: chosen.refusals };
let outcomes = noOutcomes();
for (let current = first; current < end; current += step) {
  seed[0] = current;
  await attemptOnce(trial, current, outcomes);
  if (outcomes.attempts < ATTEMPTS) continue;
  parentPort?.postMessage({ outcomes, isLast: false } satisfies Message);
  outcomes = noOutcomes();
}
parentPort?.postMessage({ outcomes, isLast: true } satisfies Message);
// Servers of the tested code may still have timers.
process.exit();
