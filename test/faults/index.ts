// Performs every fault many times, prints the table, and writes it into docs/reliability.md.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { faults } from "./faults.ts";
import { attempt, markdown, type Tally } from "./tally.ts";

const PAGE = join(import.meta.dirname, "../../docs/reliability.md");
const PLACE = /(?<=<!-- faults -->\n)[\s\S]*(?=\n<!-- end -->)/;

const { values, refuse } = commandLine(
  `npm run faults -- [--only <part of a name>] [--seed <number>] [--short]
Performs each fault many times, and writes the table into docs/reliability.md. --only and --short, a few times each, write nothing.`,
  { seed: { type: "string", default: "1" }, only: { type: "string" }, short: { type: "boolean", default: false } },
);
const chosen = faults.filter(({ name }) => name.includes(values.only ?? ""));
if (chosen.length === 0)
  refuse(`No fault has a name with "${values.only}". There are ${faults.map(({ name }) => name).join(", ")}.`);
const seed = numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse);
// Edges and regions log what fails.
console.error = () => {};
const report = (line: string) => void process.stderr.write(`${line}\n`);
const tallies: Tally[] = [];
for (const fault of chosen) {
  report(fault.name);
  const times = values.short ? fault.times.short : fault.times.long;
  const tally = await attempt(fault, { times, seed, random: randomNumbers });
  for (const what of tally.wrong) report(`  wrong: ${what}`);
  for (const seed of tally.lost) report(`  lost: seed ${seed}`);
  tallies.push(tally);
}
const table = markdown(tallies);
console.log(table);
if (!values.only && !values.short)
  await writeFile(
    PAGE,
    (await readFile(PAGE, "utf8")).replace(PLACE, () => `\n${table}\n`),
  );
if (tallies.some(({ wrong, lost }) => wrong.length + lost.length > 0)) process.exitCode = 1;
