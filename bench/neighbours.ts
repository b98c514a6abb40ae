/**
 * Measures which share of a text's ten nearest neighbours each quantized form of a sentence encoder keeps, and its texts per second:
 *
 *     npm run bench -- neighbours --model <checkpoint folder> [--only <form,form …>] [--limit <texts>] [--write]
 *
 * The true neighbours are those of sentence-transformers in float32, by cosine, among all texts of a set: the sentences of STS-B
 * test, and abstracts of SciFact. All forms get the token ids of sentence-transformers, one text at a time, on one thread. Each
 * form has a process of its own. The texts are in several parts; the forms take turns after each part, in an order that changes, and
 * rates are medians over the parts. The first part is embedded before, untimed.
 *
 * Both data sets are read from ../shared, unless `--sts` and `--scifact` name them. Abstracts are a sample, which is always the
 * same. `--limit` shortens a run: no set has more texts.
 *
 * The packages for Python are installed from PyPI, unless the variable PYTHON names an interpreter that has them. transformers.js
 * is installed from the registry of npm. `--write` writes docs/neighbours.json. `--short` measures a tiny model with our
 * own forms, whose truth is onnxruntime in float32.
 */
import { writeFile } from "node:fs/promises";
import { table } from "#sdk/cli/output.ts";
import { pythonWith } from "#test/fixtures/python-with.ts";
import { command, namesIn, positive, WrongUsage } from "./command.ts";
import { sharedFile } from "./eval/shared-file.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { forms, PACKAGES } from "./neighbours/forms.ts";
import { type FormResult, resultsFile } from "./neighbours/results.ts";
import { run } from "./neighbours/run.ts";
import { tableOf } from "./neighbours/table.ts";
import { readTexts } from "./neighbours/texts.ts";
import { authorsTruths, ownTruths } from "./neighbours/truth.ts";
import { writeTinyData } from "./tiny-data.ts";
import { writeTinyModel } from "./tiny-model.ts";

const ROUNDS = 12;
const SHORT_ROUNDS = 2;
/** Forms of a short run: those that need neither Python nor a registry. */
const SHORT_FORMS = "edge,edge-16,edge-13.5,region";
const names = forms.map(({ id }) => id);

await command(
  {
    usage: [
      "npm run bench -- neighbours --model <checkpoint folder> [--sts <sts-test.csv>] [--scifact <folder>]",
      "       [--limit <texts>] [--only <form,form …>] [--write]",
      `forms: ${names}`,
    ].join("\n"),
    options: {
      write: { type: "boolean", default: false },
      model: { type: "string" },
      sts: { type: "string" },
      scifact: { type: "string" },
      limit: { type: "string" },
      only: { type: "string" },
    },
  },
  async ({ values: { short, ...values }, folder, log }) => {
    const only = namesIn("only", values.only ?? (short ? SHORT_FORMS : undefined), names);
    const limit = values.limit === undefined ? undefined : positive("limit", values.limit);
    const model = values.model ?? (short ? await writeTinyModel(folder) : undefined);
    if (model === undefined) throw new WrongUsage("--model is missing.");
    const tiny = short ? await writeTinyData(folder) : undefined;
    const sets = await readTexts(
      {
        sts: values.sts ?? tiny?.sts ?? sharedFile("data/stsb/sts-test.csv"),
        scifact: values.scifact ?? tiny?.retrieval ?? sharedFile("data/scifact"),
      },
      limit,
    );
    log.stage("float32");
    const interpreter = short ? "python3" : await pythonWith(folder, PACKAGES);
    const truths = short ? await ownTruths(model, sets) : await authorsTruths(interpreter, { model, sets, folder });
    const results = await run({
      ...{ model, folder, interpreter, sets, truths, log },
      ...{ forms: forms.filter(({ id }) => only.includes(id)), rounds: short ? SHORT_ROUNDS : ROUNDS },
    });
    if (values.write) await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
    const { heads, rows } = tableOf(results);
    return { figures: results.forms.flatMap(figuresOfForm), text: table(heads, rows), details: results };
  },
);

function figuresOfForm({ id, bytes, scores = {} }: FormResult): Figure[] {
  return [
    ...figuresOf(id, { model: [bytes === undefined ? undefined : bytes / 1000, "KB"] }),
    ...Object.entries(scores).flatMap(([set, { kept, meanCosine, textsPerSecond }]) =>
      figuresOf(id, {
        [`${set}: neighbours kept`]: [kept, "share"],
        [`${set}: mean cosine with float32`]: [meanCosine, "agreement"],
        [`${set}: texts`]: [textsPerSecond, "per second"],
      }),
    ),
  ];
}
