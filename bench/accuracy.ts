/**
 * Measures how much accuracy each precision loses, and writes docs/accuracy.md:
 *
 *     npm run accuracy -- --model all-MiniLM-L6-v2 --sts sts-test.csv --scifact scifact/ \
 *       --classifier bert-edge-mini-sst2 --labelled dev.tsv [row …]
 *
 * A row is one precision, named by its key in docs/accuracy.json. Without row names, all rows are measured. Each task
 * of a row is measured in a subprocess. `--jobs` is the number of subprocesses that run at the same time (default 2).
 * Results are saved after each task.
 */
import { fork } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import type { Data, Result } from "./accuracy/measure-row.ts";
import { sections } from "./accuracy/rows.ts";
import { document } from "./accuracy/table.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string" },
    sts: { type: "string" },
    scifact: { type: "string" },
    classifier: { type: "string" },
    labelled: { type: "string" },
    jobs: { type: "string", default: "2" },
  },
});
const { model, sts, jobs, ...rest } = values;
if (!model || !sts) {
  console.error("usage: npm run accuracy -- --model <folder> --sts <tsv> [--scifact <folder>] [row …]");
  process.exit(2);
}
const data: Data = { model, sts, ...rest };
const docs = join(import.meta.dirname, "../docs");
const resultsFile = join(docs, "accuracy.json");
const results: Record<string, Result> = JSON.parse(await readFile(resultsFile, "utf8").catch(() => "{}"));

const tasks = sections
  .flatMap(({ rows }) => rows)
  .filter(({ id }) => positionals.length === 0 || positionals.includes(id))
  .flatMap(({ id, retrieval, classification }) => [
    { id, what: "sentences" },
    ...(classification && data.classifier && data.labelled ? [{ id, what: "classification" }] : []),
    ...(retrieval && data.scifact ? [{ id, what: "retrieval" }] : []),
  ])
  // Measure retrieval last, because it takes longest.
  .sort((a, b) => Number(a.what === "retrieval") - Number(b.what === "retrieval"));

async function work(): Promise<void> {
  for (let task = tasks.shift(); task; task = tasks.shift()) {
    const { id, what } = task;
    const start = performance.now();
    const found = await inProcess([id, what, JSON.stringify(data)]);
    results[id] = { ...results[id], ...found };
    console.error(`${id} ${what} ${JSON.stringify(found)} ${((performance.now() - start) / 1000).toFixed(0)} s`);
    await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  }
}

function inProcess(args: readonly string[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "accuracy/child.ts"), args);
    child.once("message", (result) => resolve(result as Result));
    child.once("exit", (code) =>
      reject(new Error(`${args[0]} stopped with exit code ${code} before it sent a result.`)),
    );
  });
}

await Promise.all(Array.from({ length: Number(jobs) }, work));
const names = { model: basename(model), classifier: basename(data.classifier ?? "no classifier") };
await writeFile(join(docs, "accuracy.md"), document(results, names));
