// Repeats tests in shuffled order on a busy machine, and lists what failed: `npm run test:flaky -- --runs 3 --project unit`. Exits with
// 1 if a run failed. A run is repeated with its seed: `--runs 1 --seed <seed>`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { startsProcesses } from "./starts-processes.ts";

const { values, positionals, refuse } = commandLine(
  `npm run test:flaky -- [--project unit|long|commands|processes] [--runs <number>] [--seed <number>] [<file>…]
Repeats tests in shuffled order beside loops that keep all cores busy, and lists what failed. processes: all files that start a process or
a server, apart from the short forms of commands. Default: 3 runs of unit, with a new seed.`,
  {
    project: { type: "string", default: "unit" },
    runs: { type: "string", default: "3" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
  },
  { allowPositionals: true },
);
const runs = numberOf("runs", values.runs, { min: 1, isWhole: true }, refuse);
const firstSeed = numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse);
if (!["unit", "long", "commands", "processes"].includes(values.project))
  refuse(`There are no tests ${values.project}.`);

/** Characters of a failure that are printed. */
const MAX_MESSAGE = 2_000;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const root = join(import.meta.dirname, "../..");
await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-flaky-"));
const chosen = values.project === "processes" ? startsProcesses(root) : [];
const project = values.project === "processes" ? ["--project=unit", "--project=long"] : [`--project=${values.project}`];

/** Loops that keep all cores busy, until this process has ended. */
const busy: ChildProcess[] = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ["--eval", "for (const parent = process.ppid; process.ppid === parent; );"], {
    stdio: "ignore",
  }),
);

/** Returns what a message begins with, indented. */
const beginningOf = (message: string): string =>
  message
    .slice(0, MAX_MESSAGE)
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

let failures = 0;
for (let run = 0; run < runs; run++) {
  const seed = firstSeed + run;
  const file = join(folder.path, `${seed}.json`);
  const shuffle = ["--sequence.shuffle.files", "--sequence.shuffle.tests", `--sequence.seed=${seed}`];
  const report = ["--reporter=./test/no-warnings.ts", "--reporter=json", `--outputFile.json=${file}`];
  const start = performance.now();
  const vitest = spawn(
    join(root, "node_modules/.bin/vitest"),
    ["run", ...project, ...shuffle, ...report, ...chosen, ...positionals],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const [code] = (await once(vitest, "exit")) as [number | null];
  const { testResults } = JSON.parse(await readFile(file, "utf8")) as Report;
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults
      .filter((test) => test.status === "failed")
      .map(({ fullName, failureMessages }) => `${name} > ${fullName}\n${beginningOf(failureMessages.join("\n"))}`);
    return tests.length > 0 || status === "passed" ? tests : [`${name} (the file)\n${beginningOf(message)}`];
  });
  if (code !== 0) failures++;
  console.log(
    `seed ${seed}: ${testResults.length} files, ${Math.round((performance.now() - start) / 1000)} s, exit code ${code}, ${failed.length} failed`,
  );
  for (const name of failed) console.log(`  ${name.replace(`${root}/`, "")}`);
}
for (const loop of busy) loop.kill("SIGKILL");
console.log(`${runs} runs, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
