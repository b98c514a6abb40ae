// Gives damaged input to every parser, and prints a table of the outcomes. Exits with 1 if there is a finding.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { table } from "#sdk/cli/output.ts";
import { add, noOutcomes, type Outcomes } from "./attempts.ts";
import { targets } from "./targets.ts";
import type { Part } from "./worker.ts";

/** An attempt that takes longer is a hang. Most take less than a millisecond. */
const HANG_MS = 30_000;
const MAX_SHOWN = 5;

const { values } = parseArgs({
  options: { only: { type: "string" }, runs: { type: "string" }, seed: { type: "string", default: "0" } },
});
const names = Object.keys(targets).filter((name) => values.only === undefined || values.only === name);
if (names.length === 0)
  throw new Error(`There is no target ${values.only}. Choose one of ${Object.keys(targets).join(", ")}.`);

const rows: string[][] = [];
let total = 0;
for (const name of names) {
  const runs = Number(values.runs ?? targets[name]?.runs.long);
  console.error(`${name}: ${runs} executions from seed ${values.seed}`);
  const start = performance.now();
  const outcomes = await inThreads(name, runs, Number(values.seed));
  const perSecond = Math.round((1000 * outcomes.attempts) / (performance.now() - start));
  const refused = [...outcomes.refused].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
  const { length: findings } = outcomes.findings;
  rows.push([name, `${outcomes.attempts}`, `${outcomes.accepted}`, refused.join(", "), `${findings}`, `${perSecond}`]);
  for (const { seed, what } of outcomes.findings.slice(0, MAX_SHOWN)) {
    console.error(`  finding: npm run fuzz -- --only ${name} --runs 1 --seed ${seed}\n  ${what}`);
  }
  total += outcomes.attempts;
  if (findings > 0) process.exitCode = 1;
}
console.log(table(["target", "executions", "accepted", "refused", "findings", "per second"], rows));
console.log(`${total} executions`);

/** Makes attempts in a thread for each CPU. */
async function inThreads(target: string, runs: number, first: number): Promise<Outcomes> {
  const step = Math.min(availableParallelism(), runs);
  const parts = Array.from({ length: step }, (_, i) => ({
    target,
    first: first + i,
    count: Math.ceil((runs - i) / step),
    step,
  }));
  const sum = noOutcomes();
  for (const outcomes of await Promise.all(parts.map(inThread))) add(sum, outcomes);
  return sum;
}

function inThread(part: Omit<Part, "seed">): Promise<Outcomes> {
  const seed = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: { ...part, seed } });
  return new Promise((resolve) => {
    let last = -1;
    const end = (outcomes: Outcomes) => {
      clearInterval(watch);
      void worker.terminate();
      resolve(outcomes);
    };
    const failed = (what: string) => end({ ...noOutcomes(), attempts: 1, findings: [{ seed: seed[0] ?? 0, what }] });
    const watch = setInterval(() => {
      if (last === seed[0]) failed("hang");
      last = seed[0] ?? 0;
    }, HANG_MS);
    worker.once("message", end);
    worker.once("error", (error) => failed(String(error)));
    worker.once("exit", (code) => failed(`the thread ended with ${code}`));
  });
}
