/**
 * Compares `bert-edge quantize` with onnxruntime's `quantize_dynamic` in Python on the same model. In each round, every
 * tool runs once in a new process:
 *
 *     npm run bench:quantize -- <model.onnx or folder> [--tokenizer <folder> [--sts <tsv>]] [--json]
 *
 * - A Hugging Face folder is converted to a float32 ONNX file for Python.
 * - Seconds and memory are medians over the rounds. Each is followed by its ratio to `quantize_dynamic`. The ratio is
 *   computed in every round, and the median of these ratios is printed.
 * - Cosines compare the quantized model's vectors with those of the float32 model. The inputs are texts if there is a
 *   tokenizer, and random tokens if not.
 * - Milliseconds are the time of one text on onnxruntime-node with one thread, followed by the speedup over float32.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BertEdgeError } from "#sdk/artifact/error.ts";
import { printError, printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { COMPARISON } from "#sdk/compile/accuracy/comparison.ts";
import { runInSubprocess } from "#sdk/compile/subprocess/run-in-subprocess.ts";
import { describe, type Figures, type Line } from "./quantize/describe.ts";
import { makeResults } from "./quantize/make-results.ts";
import { bertEdgeRows, hasPython, pythonRows } from "./quantize/rows.ts";
import type { Score, ScoreTask } from "./quantize/score.ts";
import type { Times } from "./quantize/time.ts";
import type { Failure } from "./run-tool.ts";

const ROUNDS = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tokenizer: { type: "string" }, sts: { type: "string" }, json: { type: "boolean" } },
});
const { json, ...texts } = values;
const [source] = positionals;
if (source === undefined || positionals.length > 1 || (texts.sts !== undefined && texts.tokenizer === undefined)) {
  printNote("usage: npm run bench:quantize -- <model.onnx or folder> [--tokenizer <folder> [--sts <tsv>]] [--json]");
  process.exit(2);
}
if (texts.tokenizer === undefined)
  printNote("Without --tokenizer, there is no calibration, and models are compared on random tokens.");
const withPython = hasPython();
if (!withPython) printNote("Rows of Python are left out: python3 with onnx and onnxruntime is not installed.");
const log = stageLog();
const folder = await mkdtemp(join(tmpdir(), "bert-edge-bench-"));
try {
  const { original, lines } = await measure(source);
  if (json) printJson({ rounds: ROUNDS, original, lines });
  else printResult(`\n${source}, median of ${ROUNDS}\n\n${describe(original, lines)}`);
} catch (error) {
  printError(error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(model: string): Promise<{ original: Figures; lines: Line[] }> {
  const staged = join(folder, "model");
  await mkdir(staged);
  const original = await subprocess<string>("stage", [model, staged]);
  const scoreOf = (file: string) => subprocess<Score>("score", [{ original, file, ...texts } satisfies ScoreTask]);
  log.stage("score float32"); // first, so that a wrong tokenizer or wrong pairs fail at once
  const score = await scoreOf(original);

  const subject = { source: model, original, ...texts };
  const rows = [...bertEdgeRows(subject), ...(withPython ? pythonRows(subject) : [])];
  const onRound = (round: number) => log.stage(`quantize, round ${round} of ${ROUNDS}`);
  const results = await makeResults(rows, { folder, rounds: ROUNDS, onRound });

  log.stage("time texts");
  const timed = results.flatMap((result) => ("file" in result && result.row.isTimed ? [result.file] : []));
  const times = await subprocess<Record<string, Times>>("time", [[original, ...timed]]);
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
  log.done();
  return { original: { score, ...msOf(original) }, lines };
}

function failureOf(error: unknown): Failure {
  if (error instanceof BertEdgeError) return { failure: `Error ${error.code}: ${error.message}` };
  throw error;
}

/**
 * Runs the function of a module in ./quantize in a subprocess. This process must not load models, because Linux would
 * add the memory of this process to the peak memory that `runTool` measures.
 */
function subprocess<T>(name: "stage" | "score" | "time", args: readonly unknown[]): Promise<T> {
  const module = new URL(`./quantize/${name}.ts`, import.meta.url).href;
  return runInSubprocess<T>({ module, name, args }, COMPARISON);
}
