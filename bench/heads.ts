/**
 * Measures how much the precisions change what heads of tokens answer:
 *
 *     npm run bench -- heads <folder>
 *
 * The folder is one that bench/heads/train_heads.py wrote: an encoder with heads, trained on one half of WNUT17
 * and of SQuAD. The other half is scored here, with the float32 model and with each target that `prepare` makes.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { table } from "#sdk/cli/output.ts";
import { comparedAs, parity } from "#sdk/compile/accuracy/parity.ts";
import { topLabel } from "#sdk/compile/accuracy/tasks/classification.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { command, WrongUsage } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { answerF1, bestSpan, type Span } from "./heads/score-answers.ts";
import { entityF1 } from "./heads/score-tags.ts";
import { writeTinyHeads } from "./heads/tiny-heads.ts";

interface Tagged {
  readonly ids: readonly number[];
  readonly labels: readonly number[];
}

interface Asked extends Span {
  readonly ids: readonly number[];
  /** Index of the first token of the context. */
  readonly secondFrom: number;
}

/** Computes the logits of the texts. */
type Run = (session: Pick<EngineSession, "run">) => Promise<readonly Float32Array[]>;

/** Texts that a head answers, and the score of its logits. */
interface HeldOut {
  readonly run: Run;
  readonly score: (logits: readonly Float32Array[]) => number;
}

const taggedTexts = (labels: readonly string[], heldOut: readonly Tagged[]): HeldOut => ({
  run: (session) => session.run(heldOut.map(({ ids }) => Int32Array.from(ids))),
  score(logits) {
    const { length } = labels;
    const found = logits.map((rows) =>
      Array.from({ length: rows.length / length }, (_, i) => topLabel(rows.subarray(i * length, (i + 1) * length))),
    );
    return entityF1(
      labels,
      heldOut.map((each) => each.labels),
      found,
    );
  },
});

const askedTexts = (heldOut: readonly Asked[]): HeldOut => ({
  run: (session) => session.run(heldOut.map(({ ids, secondFrom }) => ({ ids: Int32Array.from(ids), secondFrom }))),
  score: (logits) =>
    answerF1(
      heldOut,
      logits.map((rows, i) => bestSpan(rows, heldOut[i]?.secondFrom ?? 0)),
    ),
});

interface Row {
  readonly task: string;
  readonly label: string;
  readonly f1: number;
  /** F1 without that of float32. */
  readonly change: number;
  /** Agreement of the logits with float32. */
  readonly meanCosine: number;
}

async function rowsOf(folder: string, place: string): Promise<Row[]> {
  const { task, graph, config } = await readTextModel(await describeModel(folder));
  const texts = JSON.parse(await readFile(join(folder, "held-out.json"), "utf8"));
  const { run, score } = task.task === "tag" ? taggedTexts(task.labels, texts) : askedTexts(texts);
  const original = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
  const exact = await run(original);
  await original.release();
  const row = (label: string, logits: readonly Float32Array[]): Row => ({
    ...{ task: task.task, label, f1: score(logits), change: score(logits) - score(exact) },
    meanCosine: parity(exact, logits, comparedAs(task, config.vocabularySize)).meanCosine,
  });
  const rows = [row("float32, not fused", exact)];
  const out = join(place, task.task);
  const { manifest } = await prepare({ model: folder, out, name: "heads" });
  for (const [name, target] of Object.entries(manifest.targets)) {
    if (!target) continue;
    const { engine, precision, model } = target;
    const loaded = await engineOnThisMachine(engine);
    const session = await loaded.load(oneModel(new Uint8Array(await readFile(join(out, model)))));
    rows.push(row(`${name}: ${precision} on ${engine}`, await run(session)));
    await session.release();
  }
  return rows;
}

await command(
  { usage: "npm run bench -- heads <folder of bench/heads/train_heads.py>", options: {}, allowPositionals: true },
  async ({ values: { short }, positionals: [given, ...others], folder, log }) => {
    if ((given === undefined && !short) || others.length > 0) throw new WrongUsage("Give one folder.");
    if (given === undefined) await writeTinyHeads(folder);
    const rows: Row[] = [];
    for (const head of ["tag", "answer"]) {
      log.stage(head);
      rows.push(...(await rowsOf(join(given ?? folder, head), join(folder, "artifacts"))));
    }
    return {
      figures: rows.flatMap(({ task, label, f1, change, meanCosine }) =>
        figuresOf(`${task}, ${label}`, {
          F1: [f1, "percent"],
          change: [change, "points"],
          "mean cosine with float32": [meanCosine, "agreement"],
        }),
      ),
      text: table(
        ["task", "model", "F1", "change"],
        rows.map(({ task, label, f1, change }) => [task, label, f1.toFixed(2), change.toFixed(2)]),
      ),
      details: { rows },
    };
  },
);
