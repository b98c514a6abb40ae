/**
 * Compares our engine with onnxruntime, and measures our engine's startup and memory in workerd. Every result is
 * compared with a limit:
 *
 *     npm run bench -- engine --model <checkpoint folder> [--only <row,row …>] [--json]
 *
 * Every engine uses one thread. All engines encode the same texts in one process, in interleaved rounds. Times are
 * medians of CPU time; ratios are medians of the ratios within a round. onnxruntime-web runs several int8 files of the
 * model, and only the fastest file counts. BERT-base has random weights. Startup in workerd is measured from outside
 * the process, in wall-clock time.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { printError, printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { openContext } from "./engine/context.ts";
import { describe, type Result, resultOf } from "./engine/describe.ts";
import { rows } from "./engine/rows.ts";

const { values } = parseArgs({
  options: { model: { type: "string" }, only: { type: "string" }, json: { type: "boolean" } },
});
const { model, json } = values;
const only = values.only?.split(",");
if (model === undefined || only?.some((name) => rows.every((row) => row.name !== name))) {
  const names = rows.map(({ name }) => name).join(",");
  printNote("usage: npm run bench -- engine --model <checkpoint folder> [--only <row,row …>] [--json]");
  printNote(`rows: ${names}`);
  process.exit(2);
}
const log = stageLog();
const context = await openContext(model);
try {
  const results: Result[] = [];
  for (const row of rows.filter(({ name }) => only?.includes(name) ?? true)) {
    log.stage(`${row.name}: ${row.what}`);
    results.push(resultOf(row, await row.measure(context)));
  }
  log.done();
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg() };
  if (json) printJson({ model, machine, rows: results });
  else printResult(`${model} on ${machine.cores} × ${machine.cpu}, load ${machine.load[0]}\n\n${describe(results)}`);
} catch (error) {
  printError(error);
  process.exitCode = 1;
} finally {
  await context.close();
}
