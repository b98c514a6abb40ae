// Makes small mistakes in the code that tests covered before they left `npm test`, and asks which tests find them, in an older checkout
// and in this one: `npm run test:mutations -- --old <checkout>`. Exits with 1 if a mistake is missed that was found before, or if
// `npm test` alone finds too few.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { table } from "#sdk/cli/output.ts";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { closureOf, testFiles } from "../structure/test-closure.ts";
import { type Mutant, mutantsOf, mutated } from "./mutants.ts";

/** Minimum share of the mistakes found before that `npm test` alone finds. */
const MIN_SHARE = 0.9;
/** A mistake can make a loop endless: tests that need longer than this have found it. All unit tests need a quarter of it. */
const TIMEOUT_MS = 600_000;

/** Number of test files elsewhere that run before the others: those that need the fewest files, which are the fastest. */
const NEAREST = 20;

const here = join(import.meta.dirname, "../..");
const { values, refuse } = commandLine(
  `npm run test:mutations -- --old <checkout> [--only <part of a path>] [--seed <number>] [--each <number>] [--short]
Makes some small mistakes, three by default, in the code that each test file covered which is no longer in npm test, and runs the tests that import this
code: in an older checkout, installed and built, and in this one. --short: only with npm test, in this one.`,
  {
    short: { type: "boolean", default: false },
    old: { type: "string" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    each: { type: "string", default: "3" },
  },
);
const each = numberOf("each", values.each, { min: 1, isWhole: true }, refuse);
const seed = numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse);
const old = values.old ?? refuse("--old is missing.");
await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-mutations-"));

const [before, now] = [testFiles(old), new Set(testFiles(here))];
/** Test files of the older checkout that `npm test` no longer runs, at least not with all cases. */
const left = before.filter((path) => !now.has(path) || now.has(path.replace(".test.ts", ".long.test.ts")));

interface Mistake extends Mutant {
  readonly path: string;
}

/** Chooses mistakes in the code that a test file covered. Only code that both checkouts have alike can be compared. */
function mistakesFor(test: string, random: () => number): Mistake[] {
  const same = (path: string) =>
    existsSync(join(here, path)) &&
    readFileSync(join(here, path), "utf8") === readFileSync(join(old as string, path), "utf8");
  const all = closureOf(old as string, test)
    .product.filter(same)
    .flatMap((path) => mutantsOf(path, readFileSync(join(here, path), "utf8")).map((mutant) => ({ path, ...mutant })));
  return Array.from({ length: Math.min(each, all.length) }, () =>
    all.splice(Math.floor(random() * all.length), 1),
  ).flat();
}

/**
 * Runs the tests that import a file, until one fails: first the tests in the file's folder and other near ones.
 *
 * @returns the first that failed, or undefined if none did
 */
function foundBy(root: string, path: string, project?: string): string | undefined {
  const tests = testFiles(root);
  const beside = tests.filter((test) => dirname(test) === dirname(path));
  const importing = tests
    .map((test) => ({ test, needs: closureOf(root, test).product }))
    .filter(({ test, needs }) => needs.includes(path) && !beside.includes(test))
    .sort((a, b) => a.needs.length - b.needs.length)
    .map(({ test }) => test);
  const nearest = [...beside, ...importing.slice(0, NEAREST)];
  return (
    (nearest.length > 0 ? firstFailed(root, ["run", ...nearest], project) : undefined) ??
    firstFailed(root, ["related", path, "--run"], project)
  );
}

/** Runs tests until one fails, and returns its file. */
function firstFailed(root: string, tests: readonly string[], project?: string): string | undefined {
  const report = join(folder.path, "report.json");
  rmSync(report, { force: true });
  const output = ["--bail=1", "--passWithNoTests", "--reporter=json", `--outputFile=${report}`];
  const chosen = project === undefined ? [] : [`--project=${project}`];
  const { status, error } = spawnSync(join(root, "node_modules/.bin/vitest"), [...tests, ...output, ...chosen], {
    cwd: root,
    stdio: "ignore",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  if (error) return "the time limit";
  if (status === 0) return undefined;
  if (!existsSync(report)) return "a failed run";
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: readonly {
      readonly name: string;
      readonly assertionResults: readonly { readonly status: string }[];
    }[];
  };
  const hasFailed = ({ assertionResults }: (typeof testResults)[number]) =>
    assertionResults.some((test) => test.status === "failed");
  return testResults.find(hasFailed)?.name.replace(`${root}/`, "") ?? "a failed run";
}

/** Runs `work` while a file of a checkout has a mistake. */
function withMistake<T>(root: string, { path, ...mutant }: Mistake, work: () => T): T {
  const file = join(root, path);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, mutated(source, mutant));
  try {
    return work();
  } finally {
    writeFileSync(file, source);
  }
}

const rows: string[][] = [];
let [found, missed, short] = [0, 0, 0];
const random = randomNumbers(seed);
for (const test of left.filter((path) => path.includes(values.only))) {
  for (const mistake of mistakesFor(test, random)) {
    const { path, what } = mistake;
    const inShort = withMistake(here, mistake, () => foundBy(here, path, "unit"));
    // A mistake that npm test finds needs no other run.
    const wasFound = inShort ?? (values.short ? undefined : withMistake(old, mistake, () => foundBy(old, path)));
    const inLong = inShort ?? (wasFound && withMistake(here, mistake, () => foundBy(here, path, "long")));
    if (wasFound !== undefined) {
      found++;
      if (inShort !== undefined) short++;
      if (inLong === undefined) missed++;
    }
    rows.push([test, `${path}: ${what}`, wasFound ?? "-", inShort ?? "-", inLong ?? "-"]);
    console.error(rows.at(-1)?.join(" | "));
  }
}
console.log(table(["test file", "mistake", "found before by", "by npm test", "by all tests"], rows));
console.log(`\n${rows.length} mistakes, found before: ${found}, by npm test: ${short}, missed now: ${missed}`);
if (missed > 0 || short < MIN_SHARE * found) process.exitCode = 1;
