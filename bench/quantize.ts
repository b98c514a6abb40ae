/**
 * Compares `bert-edge quantize` with onnxruntime's `quantize_dynamic` in Python on the same model. In each round, every
 * tool runs once in a new process:
 *
 *     npm run bench:quantize -- <model.onnx or folder> [--tokenizer <folder> [--sts <tsv>]]
 *
 * - A Hugging Face folder is converted to a float32 ONNX file for Python.
 * - Seconds and memory are medians over the rounds. Each is followed by its ratio to `quantize_dynamic`. The ratio is
 *   computed in every round, and the median of these ratios is printed.
 * - Cosines compare the quantized model's vectors with those of the float32 model. The inputs are texts if there is a
 *   tokenizer, and random tokens if not.
 * - Milliseconds are the time of one text on onnxruntime-node with one thread, followed by the speedup over float32.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "#sdk/artifact/error.ts";
import { printNote } from "#sdk/cli/output.ts";
import type { StageLog } from "#sdk/cli/stage-log.ts";
import { COMPARISON } from "#sdk/compile/accuracy/model-runs.ts";
import { runInSubprocess } from "#sdk/compile/subprocess/run-in-subprocess.ts";
import { command, WrongUsage } from "./command.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { describe, type Figures, type Line } from "./quantize/describe.ts";
import { makeResults } from "./quantize/make-results.ts";
import { bertEdgeRows, hasPython, PYTHON, pythonRows } from "./quantize/rows.ts";
import type { Score, ScoreTask } from "./quantize/score.ts";
import type { Times } from "./quantize/time.ts";
import type { Failure } from "./run-tool.ts";
import { writeTinyModel } from "./tiny-model.ts";

const ROUNDS = 5;
/** Rounds of the times: enough for a stable median while other programs run. */
const TIMED_ROUNDS = 31;

interface Measured {
  readonly source: string;
  readonly texts: Pick<ScoreTask, "tokenizer" | "sts">;
  readonly short: boolean;
  readonly folder: string;
  readonly log: StageLog;
}

/** Runs the function of a module in ./quantize. */
type RunModule = <T>(name: "stage" | "score" | "time", args: readonly unknown[]) => Promise<T>;

const urlOf = (name: string): string => new URL(`./quantize/${name}.ts`, import.meta.url).href;

/**
 * Runs it in a subprocess. This process must not load models, because Linux would add the memory of this process to the
 * peak memory that `runTool` measures.
 */
const inSubprocess: RunModule = (name, args) => runInSubprocess({ module: urlOf(name), name, args }, COMPARISON);

/** Runs it here: for short runs, whose figures of memory say nothing. */
const inThisProcess: RunModule = async (name, args) => (await import(urlOf(name)))[name](...args);

await command(
  {
    usage: "npm run bench:quantize -- <model.onnx or folder> [--tokenizer <folder> [--sts <tsv>]]",
    options: { tokenizer: { type: "string" }, sts: { type: "string" } },
    allowPositionals: true,
  },
  async ({ values: { short, tokenizer, sts }, positionals, folder, log }) => {
    const tiny = short && positionals.length === 0 ? await writeTinyModel(folder) : undefined;
    const source = tiny ?? positionals[0];
    if (source === undefined || positionals.length > 1) throw new WrongUsage("Give one model.");
    if (sts !== undefined && tokenizer === undefined) throw new WrongUsage("--sts needs --tokenizer.");
    const ofTexts = tokenizer ?? tiny;
    const texts = { ...(ofTexts !== undefined && { tokenizer: ofTexts }), ...(sts !== undefined && { sts }) };
    const { original, lines } = await measure({ source, texts, short, folder, log });
    return {
      figures: [{ title: "float32", ...original }, ...lines].flatMap(figuresOfLine),
      text: `${source}, median of ${short ? 1 : ROUNDS}\n\n${describe(original, lines)}`,
      details: { original, lines },
    };
  },
);

/** Rows of bert-edge must have a result. Python's tool cannot quantize every model. */
function figuresOfLine({ title, ...line }: Line): Figure[] {
  if ("failure" in line) return figuresOf(title, { failures: [title.startsWith(PYTHON) ? 0 : 1, "differences"] });
  const { cost, score, ms = {} } = line;
  return figuresOf(title, {
    time: [cost?.seconds, "s"],
    memory: [cost?.peakRssMB, "MB"],
    size: [score.bytes / 1000, "KB"],
    nodes: [score.nodes, "count"],
    "mean cosine with float32": [score.meanCosine, "agreement"],
    "STS-B": [score.sts === undefined ? undefined : score.sts / 100, "correlation"],
    ...Object.fromEntries(Object.entries(ms).map(([tokens, time]) => [`${tokens} tokens`, [time, "ms"] as const])),
  });
}

async function measure({ source, texts, short, folder, log }: Measured): Promise<{ original: Figures; lines: Line[] }> {
  if (texts.tokenizer === undefined)
    printNote("Without --tokenizer, there is no calibration, and models are compared on random tokens.");
  const run = short ? inThisProcess : inSubprocess;
  const withPython = hasPython();
  if (!withPython) printNote("Rows of Python are left out: python3 with onnx and onnxruntime is not installed.");
  const staged = join(folder, "model");
  await mkdir(staged);
  const original = await run<string>("stage", [source, staged]);
  const scoreOf = (file: string) => run<Score>("score", [{ original, file, ...texts } satisfies ScoreTask]);
  log.stage("score float32"); // first, so that a wrong tokenizer or wrong pairs fail at once
  const score = await scoreOf(original);

  const subject = { source, original, ...texts };
  const rows = [...bertEdgeRows(subject), ...(withPython ? pythonRows(subject) : [])];
  const rounds = short ? 1 : ROUNDS;
  const onRound = (round: number) => log.stage(`quantize, round ${round} of ${rounds}`);
  const results = await makeResults(rows, { folder, rounds, onRound });

  log.stage("time texts");
  const timed = results.flatMap((result) => ("file" in result && result.row.isTimed ? [result.file] : []));
  const times = await run<Record<string, Times>>("time", [[original, ...timed], short ? 1 : TIMED_ROUNDS]);
  const msOf = (file: string) => times[file] && { ms: times[file] };
  if (!times[original]) printNote("Times are left out: the model does not run on texts of the timed lengths.");

  const lines: Line[] = [];
  for (const { row, ...result } of results) {
    const { title } = row;
    if ("failure" in result) lines.push({ title, failure: result.failure });
    else {
      log.stage(`score ${title}`);
      const { file, cost } = result;
      const found = await scoreOf(file).then((score) => ({ score }), failureOf);
      lines.push({ title, cost, ...msOf(file), ...found });
    }
  }
  return { original: { score, ...msOf(original) }, lines };
}

function failureOf(error: unknown): Failure {
  if (error instanceof BertEdgeError) return { failure: `Error ${error.code}: ${error.message}` };
  throw error;
}
