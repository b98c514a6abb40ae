// Gives damaged input to every parser, and prints a table of the outcomes. Exits with 1 if there is a finding.
import { table } from "#sdk/cli/output.ts";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { inThreads } from "./in-threads.ts";
import { targets } from "./targets.ts";
import { parts } from "./wrong/index.ts";
import { printWrongInputs } from "./wrong/print-wrong-inputs.ts";

const MAX_SHOWN = 5;

const { values, refuse } = commandLine(
  `npm run fuzz -- [--only <target> | --wrong <part>] [--runs <number>] [--seed <number>]
Gives damaged input to every parser. Targets: ${Object.keys(targets).join(", ")}.
With --wrong, gives wrong inputs as users make them, and prints what they get. Parts: ${Object.keys(parts).join(", ")}.`,
  {
    ...{ only: { type: "string" }, wrong: { type: "string" } },
    ...{ runs: { type: "string" }, seed: { type: "string", default: "0" } },
  },
);
const names = Object.keys(targets).filter((name) => values.only === undefined || values.only === name);
if (names.length === 0) refuse(`There is no target ${values.only}.`);
const first = numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse);
const given = values.runs === undefined ? undefined : numberOf("runs", values.runs, { min: 1, isWhole: true }, refuse);

if (values.wrong !== undefined) {
  const part = parts[values.wrong] ?? refuse(`There is no part ${values.wrong}.`);
  // The log of the product is for its operator: only answers are judged.
  console.error = () => {};
  process.exit((await printWrongInputs(part, { runs: given ?? 200, seed: first })) > 0 ? 1 : 0);
}
const rows: string[][] = [];
let total = 0;
for (const name of names) {
  const runs = given ?? targets[name]?.runs.long ?? 0;
  console.error(`${name}: ${runs} executions from seed ${first}`);
  const start = performance.now();
  const { attempts, accepted, refused, findings } = await inThreads(name, runs, first);
  const perSecond = Math.round((1000 * attempts) / (performance.now() - start));
  const codes = [...refused].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
  rows.push([name, ...[attempts, accepted, findings.length, perSecond].map(String), codes.join(", ")]);
  for (const { seed, what } of findings.slice(0, MAX_SHOWN)) {
    console.error(`  finding: npm run fuzz -- --only ${name} --runs 1 --seed ${seed}\n  ${what}`);
  }
  total += attempts;
  if (findings.length > 0) process.exitCode = 1;
}
console.log(table(["target", "executions", "accepted", "findings", "per second", "refused"], rows));
console.log(`${total} executions`);
