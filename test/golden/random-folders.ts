// Changes two random keys of tiny model folders, and compares what we answer with what their authors' libraries answer:
//
//     npm run e2e:folders
//     PYTHON=python3 npm run e2e:folders -- --count 400 --seed 7
//
// A folder is refused, or has the libraries' answers. Another answer is a silent difference, which fails the run.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { pythonWith } from "../fixtures/python-with.ts";
import {
  type Edit,
  type Outcome,
  outcomeOf,
  type RandomFolder,
  type RandomFolders,
} from "../fixtures/random-folder.ts";
import { runCommand } from "../fixtures/run-command.ts";

const packages = ["torch", "transformers", "sentence-transformers"];

const { values, refuse } = commandLine(
  `npm run e2e:folders -- [--count 40] [--seed 0] [--only <number>] [--answers <file>] [--verbose]
Compares random model folders with transformers and sentence-transformers, and with pylate if it is there: those of PYTHON, else new ones
from PyPI.
--answers: file of test/golden/random_folders.py, instead of a run of Python.`,
  {
    count: { type: "string", default: "40" },
    seed: { type: "string", default: "0" },
    only: { type: "string" },
    answers: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
);
const count = numberOf("count", values.count, { isWhole: true }, refuse);
const seed = numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse);

async function answersFile(folder: string): Promise<string> {
  if (values.answers) return values.answers;
  const python = await pythonWith(folder, packages);
  const file = join(folder, "answers.json");
  const only = values.only === undefined ? [] : ["--only", values.only];
  const script = join(import.meta.dirname, "random_folders.py");
  await runCommand(folder, python, "-B", script, file, "--count", String(count), "--seed", String(seed), ...only);
  return file;
}

interface Compared extends RandomFolder {
  readonly outcome: Outcome;
  /** Whether the library answers as if nothing had changed. */
  readonly isUnchanged: boolean;
  /** Whether we refuse the folder as the library saved it. */
  readonly isOfRefused: boolean;
}

async function compared(work: string, golden: RandomFolders): Promise<Compared[]> {
  const { versions, bases, cases } = golden;
  console.log(`${cases.length} folders of ${Object.entries(versions).flat().join(" ")}, seed ${golden.seed}`);
  const unedited = Object.entries(bases).map(([base, { answers }]) => ({ number: -1, base, edits: [], answers }));
  const found: Compared[] = [];
  for (const each of [
    ...unedited,
    ...cases.filter(({ number }) => values.only === undefined || number === Number(values.only)),
  ]) {
    const outcome = await outcomeOf(join(work, `${each.number} ${each.base}`), golden, each);
    await rm(join(work, `${each.number} ${each.base}`), { recursive: true, force: true });
    const isUnchanged = JSON.stringify(each.answers) === JSON.stringify(bases[each.base]?.answers);
    found.push({ ...each, outcome, isUnchanged, isOfRefused: bases[each.base]?.refused ?? false });
  }
  return found;
}

const edits = (each: readonly Edit[]): string =>
  each
    .map((edit) => `${edit.file} ${edit.path.join(".")}: ${"value" in edit ? JSON.stringify(edit.value) : "deleted"}`)
    .join("; ") || "as saved";

/** Prints what became of the folders. Returns the exit code. */
function report(found: readonly Compared[]): number {
  const isAnswered = ({ answers }: Compared) => answers !== undefined;
  const wrong = found.filter(
    ({ outcome, edits: { length }, isOfRefused }) =>
      ["differs", "late", "fails"].includes(outcome.is) || (outcome.is === "refused" && length === 0 && !isOfRefused),
  );
  for (const each of values.verbose ? found : wrong) {
    const { number, base, outcome, error } = each;
    console.log(
      `${number} ${base}: ${outcome.is} ${outcome.what}\n    ${edits(each.edits)}${error ? `\n    ${error}` : ""}`,
    );
  }
  const refused = found.filter(({ outcome }) => outcome.is === "refused");
  const rows = {
    "agree, the library answers": found.filter((each) => each.outcome.is === "agrees" && isAnswered(each)),
    "answered, the library fails": found.filter((each) => each.outcome.is === "agrees" && !isAnswered(each)),
    "refused, the library fails": refused.filter((each) => !isAnswered(each)),
    "refused, the library answers otherwise than before": refused.filter(
      (each) => isAnswered(each) && !each.isUnchanged,
    ),
    "refused as before, of kinds that we refuse": refused.filter((each) => each.isUnchanged && each.isOfRefused),
    "refused, the library answers as before": refused.filter((each) => each.isUnchanged && !each.isOfRefused),
    "silent differences": found.filter(({ outcome }) => outcome.is === "differs"),
    "refused when asked, not when prepared": found.filter(({ outcome }) => outcome.is === "late"),
    "errors without a code, and refused as saved": wrong.filter(
      ({ outcome }) => !["differs", "late"].includes(outcome.is),
    ),
  };
  for (const [what, { length }] of Object.entries(rows)) console.log(`${String(length).padStart(5)} ${what}`);
  return wrong.length === 0 ? 0 : 1;
}

const work = await mkdtemp(join(tmpdir(), "bert-edge-folders-"));
try {
  process.exitCode = report(
    await compared(work, JSON.parse(await readFile(await answersFile(work), "utf8")) as RandomFolders),
  );
} finally {
  await rm(work, { recursive: true, force: true });
}
