/**
 * Compares our engine with onnxruntime and with itself, and measures our engine's startup and memory in workerd. Every result is
 * compared with a limit:
 *
 *     npm run bench -- engine --model <checkpoint folder> [--only <row,row …>]
 *
 * Every engine uses one thread. All engines encode the same texts in one process, in interleaved rounds. Times are
 * medians of CPU time; ratios are medians of the ratios within a round. onnxruntime-web runs several int8 files of the
 * model, and only the fastest file counts. BERT-base has random weights. Startup in workerd is measured from outside
 * the process, in wall-clock time. Vectors are compared with those of onnxruntime in float32.
 *
 * In rows named int4, our engine has weights and a token embedding table of 4 bits. Their rival is our engine in int8. "In each call"
 * means that each call expands the weights; otherwise they are expanded once. A store of 20 ms and 50 MB/s is a web server on this
 * machine that begins each answer 20 ms after the request, and sends 50 MB/s.
 */
import { command, namesIn, WrongUsage } from "./command.ts";
import { openContext } from "./engine/context.ts";
import { describe, figuresOfRow, type Result, resultOf } from "./engine/describe.ts";
import { rows } from "./engine/rows.ts";
import { thisMachine } from "./machine.ts";
import { writeTinyModel } from "./tiny-model.ts";

const names = rows.map(({ name }) => name);

await command(
  {
    usage: `npm run bench -- engine --model <checkpoint folder> [--only <row,row …>]\nrows: ${names}`,
    options: { model: { type: "string" }, only: { type: "string" } },
  },
  async ({ values: { short, ...values }, folder, log }) => {
    const only = namesIn("only", values.only, names);
    const model = values.model ?? (short ? await writeTinyModel(folder) : undefined);
    if (model === undefined) throw new WrongUsage("--model is missing.");
    const context = openContext(model, { folder, short });
    const results: Result[] = [];
    for (const row of rows.filter(({ name }) => only.includes(name))) {
      log.stage(`${row.name}: ${row.what}`);
      results.push(resultOf(row, await row.measure(context)));
    }
    const machine = thisMachine();
    return {
      figures: results.flatMap(figuresOfRow),
      text: `${model} on ${machine.cores} × ${machine.cpu}, load ${machine.load[0]}\n\n${describe(results)}`,
      details: { model, machine, rows: results },
    };
  },
);
