import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { add, noOutcomes, type Outcomes } from "./attempts.ts";
import type { Message, Part } from "./worker.ts";

/** An attempt that takes longer is a hang. Most take less than a millisecond. */
const HANG_MS = 30_000;
/** Crashes and hangs after which a thread is not started again. */
const MAX_DEATHS = 5;

/** Makes attempts in a thread for each CPU. */
export async function inThreads(target: string, runs: number, first: number): Promise<Outcomes> {
  const step = Math.min(availableParallelism(), runs);
  const parts = Array.from({ length: step }, (_, i) => ({ target, first: first + i, end: first + runs, step }));
  const sum = noOutcomes();
  await Promise.all(parts.map((part) => untilEnd(part, sum)));
  return sum;
}

/** Makes the attempts of a part. After a crash or a hang, a new thread goes on with the next seed. */
async function untilEnd(part: Omit<Part, "seed">, sum: Outcomes): Promise<void> {
  let { first } = part;
  for (let deaths = 0; first < part.end && deaths < MAX_DEATHS; deaths++) {
    const death = await inThread({ ...part, first }, sum);
    if (!death) return;
    add(sum, { ...noOutcomes(), attempts: 1, findings: [death] });
    first = death.seed + part.step;
  }
}

/** @returns the seed at which the thread died, if it did not come to its end */
function inThread(part: Omit<Part, "seed">, sum: Outcomes): Promise<Outcomes["findings"][number] | undefined> {
  const seed = new Float64Array(new SharedArrayBuffer(8)).fill(Number.NaN);
  const current = () => (Number.isNaN(seed[0]) ? part.first : (seed[0] as number));
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: { ...part, seed } });
  return new Promise((resolve) => {
    let last = Number.NaN;
    const end = (what?: string) => {
      clearInterval(watch);
      // A thread that came to its end exits by itself, and removes its folders.
      if (what !== undefined) void worker.terminate();
      resolve(what === undefined ? undefined : { seed: current(), what });
    };
    const watch = setInterval(() => {
      // Before the first attempt, the seed is NaN: a busy machine can take long to make sound input.
      if (last === seed[0]) end("hang");
      last = seed[0] as number;
    }, HANG_MS);
    worker.on("message", ({ outcomes, isLast }: Message) => {
      add(sum, outcomes);
      if (isLast) end();
    });
    worker.once("error", (error) => end(String(error)));
    worker.once("exit", (code) => end(`the thread ended with ${code}`));
  });
}
