/**
 * Measures how much accuracy each precision loses, and writes docs/accuracy.md:
 *
 *     npm run accuracy -- --model all-MiniLM-L6-v2 --sts sts-test.csv --scifact scifact/ \
 *       --classifier bert-edge-mini-sst2 --labelled dev.tsv [row …]
 *
 * A row is one precision, named by its key in docs/accuracy.json. Without row names, all rows are measured. Each task
 * of a row is measured in a subprocess. `--jobs` is the number of subprocesses that run at the same time (default 2).
 * Results are saved after each task. `--short` measures a tiny model in this process, and saves nothing.
 */
import { fork } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { printNote } from "#sdk/cli/output.ts";
import { writePreparableClassifier } from "#test/fixtures/classifier-case.ts";
import { type Data, measureRow, type Result, type Task } from "./accuracy/measure-row.ts";
import { sections } from "./accuracy/rows.ts";
import { document } from "./accuracy/table.ts";
import { command, namesIn, positive, WrongUsage } from "./command.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { writeTinyData } from "./tiny-data.ts";
import { writeTinyModel } from "./tiny-model.ts";

const docs = join(import.meta.dirname, "../docs");
const resultsFile = join(docs, "accuracy.json");
/** Calibration texts of a short run. */
const SHORT_CALIBRATION = 8;
const rows = sections.flatMap(({ rows }) => rows);

const figuresOfTask = (id: string, { sts, meanCosine, bytes, ndcg, accuracy }: Result): Figure[] =>
  figuresOf(id, {
    "STS-B": [sts === undefined ? undefined : sts / 100, "correlation"],
    "mean cosine with float32": [meanCosine, "agreement"],
    weights: [bytes === undefined ? undefined : bytes / 1000, "KB"],
    "nDCG@10": [ndcg, "share"],
    accuracy: [accuracy, "percent"],
  });

await command(
  {
    usage: [
      "npm run accuracy -- --model <folder> --sts <tsv> [--scifact <folder>] [--classifier <folder> --labelled <tsv>]",
      "       [--jobs 2] [row …]",
    ].join("\n"),
    options: {
      model: { type: "string" },
      sts: { type: "string" },
      scifact: { type: "string" },
      classifier: { type: "string" },
      labelled: { type: "string" },
      jobs: { type: "string", default: "2" },
    },
    allowPositionals: true,
  },
  async ({ values: { short, jobs, json: _, model, sts, ...rest }, positionals, folder }) => {
    if (!short && !(model && sts)) throw new WrongUsage("--model and --sts are needed.");
    const data: Data = {
      ...(model && sts ? { model, sts, ...rest } : await tinyData(folder)),
      ...(short && { calibration: SHORT_CALIBRATION }),
    };
    const ids = namesIn(
      "rows",
      positionals.join(",") || undefined,
      rows.map(({ id }) => id),
    );
    const results: Record<string, Result> = short
      ? {}
      : JSON.parse(await readFile(resultsFile, "utf8").catch(() => "{}"));
    const tasks = rows
      .filter(({ id }) => ids.includes(id))
      .flatMap(({ id, retrieval, classification }): { id: string; what: Task }[] => [
        { id, what: "sentences" },
        ...(classification && data.classifier && data.labelled ? [{ id, what: "classification" as const }] : []),
        ...(retrieval && data.scifact ? [{ id, what: "retrieval" as const }] : []),
      ])
      // Measure retrieval last, because it takes longest.
      .sort((a, b) => Number(a.what === "retrieval") - Number(b.what === "retrieval"));
    const figures: Figure[] = [];

    async function work(): Promise<void> {
      for (let task = tasks.shift(); task; task = tasks.shift()) {
        const { id, what } = task;
        const start = performance.now();
        const found = await (short ? measureRow(id, data, what) : inProcess([id, what, JSON.stringify(data)]));
        results[id] = { ...results[id], ...found };
        figures.push(...figuresOfTask(id, found));
        printNote(`${id} ${what} ${JSON.stringify(found)} ${((performance.now() - start) / 1000).toFixed(0)} s`);
        if (!short) await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
      }
    }
    await Promise.all(Array.from({ length: short ? 1 : positive("jobs", jobs) }, work));
    const names = { model: basename(data.model), classifier: basename(data.classifier ?? "no classifier") };
    const page = document(results, names);
    if (!short) await writeFile(join(docs, "accuracy.md"), page);
    return { figures, text: page, details: { results } };
  },
);

async function tinyData(folder: string): Promise<Data> {
  const classifier = join(folder, "tiny-classifier");
  await writePreparableClassifier(classifier, ["negative", "positive"]);
  const { sts, retrieval: scifact, labelled } = await writeTinyData(folder);
  return { model: await writeTinyModel(folder), sts, scifact, classifier, labelled };
}

function inProcess(args: readonly string[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "accuracy/child.ts"), args);
    child.once("message", (result) => {
      child.kill("SIGKILL");
      resolve(result as Result);
    });
    child.once("exit", (code) =>
      reject(new Error(`${args[0]} stopped with exit code ${code} before it sent a result.`)),
    );
  });
}
