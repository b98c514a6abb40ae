/**
 * Measures a token embedding table in pages. An encoder of multilingual-e5-base's size (12 layers of 768, 250,000 tokens, 4 bits) gets
 * 5,000 texts of 5 to 60 words in 13 languages and ten scripts. One language is missing in the texts of the vocabulary and of the
 * calibration:
 *
 *     npm run bench -- pages --folder <folder> [--max-memory <MB>] [--calibration <texts>] [--compared <texts>]
 *
 * The folder keeps texts, vocabulary and weights. The first run makes them from packages of Debian (apt-get), with `tokenizers` from
 * PyPI, unless the variable PYTHON names an interpreter that has it. Weights are random: neither memory nor reads depend on them.
 *
 * Texts are sent one after the other to a model whose store answers each read after 5, 20 and 50 ms. A request fetches if rows of its
 * tokens are not in memory. Shares count the requests after the first 1,000. A wave is up to six reads at the same time. Some texts are
 * also computed, and their vectors compared with those of the whole table, bit by bit. At last, an isolate in workerd computes texts of the
 * maximum length, and its memory is measured. With 89.2 MB of weights, the engine has 100 MB there.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import type { TokenSequence } from "#sdk/runtime/engine/engine.ts";
import { idsOf } from "#sdk/runtime/engine/token-sequence.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { command, positive, WrongUsage } from "./command.ts";
import { megabytes } from "./engine/measured.ts";
import { figuresOf } from "./figures.ts";
import { thisMachine } from "./machine.ts";
import { describe, figuresOfSummary, type Summary, summaryOf } from "./pages/describe.ts";
import { encodeForms, isolateMemory } from "./pages/forms.ts";
import { makeModel } from "./pages/model.ts";
import { differentVectors, replay } from "./pages/replay.ts";

const ROUND_TRIPS_MS = [5, 20, 50];
/** The language that is missing: see pages/texts.py. */
const HELD_OUT = "fi";

/** A model, and texts of which only those of the calibration are known when it is prepared. */
interface Subject {
  readonly model: string;
  readonly calibration: readonly string[];
  readonly requests: readonly { readonly language: string; readonly text: string }[];
}

async function subjectIn(folder: string): Promise<Subject> {
  const model = await makeModel(folder);
  const linesOf = async (name: string) => (await readFile(join(folder, name), "utf8")).trimEnd().split("\n");
  const requests = (await linesOf("test.jsonl")).map((line) => JSON.parse(line));
  return { model, calibration: await linesOf("calibration.txt"), requests };
}

/** A tiny model with texts of this package, for short runs. */
async function tinySubject(folder: string): Promise<Subject> {
  const model = join(folder, "tiny-model");
  await writePreparableCheckpoint(model, { config: { hidden_size: 64, intermediate_size: 256 } });
  const half = calibrationTexts.length >> 1;
  const requests = calibrationTexts.slice(half).map((text) => ({ language: "en", text }));
  return { model, calibration: calibrationTexts.slice(0, half), requests };
}

await command(
  {
    usage: "npm run bench -- pages --folder <folder> [--max-memory <MB>] [--calibration <texts>] [--compared <texts>]",
    options: {
      folder: { type: "string" },
      "max-memory": { type: "string", default: "89.2" },
      calibration: { type: "string" },
      compared: { type: "string", default: "500" },
    },
  },
  async ({ values: { short, ...values }, folder, log }) => {
    const number = (option: "max-memory" | "compared") => positive(option, values[option]);
    const limit = values.calibration === undefined ? undefined : positive("calibration", values.calibration);
    if (values.folder === undefined && !short) throw new WrongUsage("--folder is missing.");
    log.stage("model");
    const { model, requests, ...given } = await (short ? tinySubject(folder) : subjectIn(values.folder as string));
    const calibration = given.calibration.slice(0, limit);
    log.stage("pages");
    const forms = await encodeForms(model, {
      maxMemory: short ? undefined : 1e6 * number("max-memory"),
      calibration,
    });
    const texts = forms.model.encode(requests.map(({ text }) => text));
    const sent = requests.map(({ language }, i) => ({ language, ids: idsOf(texts[i] as TokenSequence) }));
    const summaries: Summary[] = [];
    for (const roundTripMs of short ? ROUND_TRIPS_MS.slice(0, 1) : ROUND_TRIPS_MS) {
      log.stage(`round trip of ${roundTripMs} ms`);
      summaries.push(summaryOf(await replay(forms, sent, roundTripMs), roundTripMs, HELD_OUT));
    }
    log.stage("vectors");
    const compared = sent.slice(-number("compared"));
    const different = await differentVectors(forms, compared);
    log.stage("memory in workerd");
    const { used, webAssembly, heap } = await isolateMemory(forms, join(folder, "bucket"));
    const machine = thisMachine();
    const { resident, cached, rows } = forms.rows;
    return {
      figures: [
        ...figuresOf("isolate", { memory: [used / 1e6, "MB"], engine: [webAssembly / 1e6, "MB"] }),
        ...summaries.flatMap(figuresOfSummary),
        ...figuresOf("vectors", { compared: [compared.length, "count"], different: [different, "differences"] }),
      ],
      text: [
        `${machine.cores} × ${machine.cpu}, load ${machine.load[0]}`,
        `${resident} rows stay in memory, ${cached} others have room, pages of ${rows}; ${calibration.length} texts for calibration`,
        describe(summaries),
        `${megabytes(used)} of an isolate in workerd after a text of the maximum length: ${megabytes(webAssembly)} of the engine, ${megabytes(heap)} of heap, and the tokenizer`,
        `${compared.length - different} of ${compared.length} vectors are the same as with the whole table, bit by bit`,
      ].join("\n\n"),
      details: { machine, rows: forms.rows, summaries },
    };
  },
);
