/**
 * Measures how much the precisions change what heads of tokens answer:
 *
 *     npm run bench -- heads <folder>
 *
 * The folder is one that bench/heads/train_heads.py wrote: an encoder with heads, trained on one half of WNUT17
 * and of SQuAD. The other half is scored here, with the float32 model and with each target that `prepare` makes.
 */
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printResult, table } from "#sdk/cli/output.ts";
import { topLabel } from "#sdk/compile/accuracy/tasks/accuracy.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { withWorkFolder } from "#sdk/compile/files/work-folder.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { answerF1, bestSpan, type Span } from "./heads/score-answers.ts";
import { entityF1 } from "./heads/score-tags.ts";

interface Tagged {
  readonly ids: readonly number[];
  readonly labels: readonly number[];
}

interface Asked extends Span {
  readonly ids: readonly number[];
  /** Index of the first token of the context. */
  readonly secondFrom: number;
}

/** Computes the score of a loaded model. */
type Score = (session: Pick<EngineSession, "run">) => Promise<number>;

const tagScore =
  (labels: readonly string[], heldOut: readonly Tagged[]): Score =>
  async (session) => {
    const logits = await session.run(heldOut.map(({ ids }) => Int32Array.from(ids)));
    const { length } = labels;
    const found = logits.map((rows) =>
      Array.from({ length: rows.length / length }, (_, i) => topLabel(rows.subarray(i * length, (i + 1) * length))),
    );
    return entityF1(
      labels,
      heldOut.map((each) => each.labels),
      found,
    );
  };

const answerScore =
  (heldOut: readonly Asked[]): Score =>
  async (session) => {
    const pairs = heldOut.map(({ ids, secondFrom }) => ({ ids: Int32Array.from(ids), secondFrom }));
    const logits = await session.run(pairs);
    return answerF1(
      heldOut,
      logits.map((rows, i) => bestSpan(rows, heldOut[i]?.secondFrom ?? 0)),
    );
  };

async function scores(folder: string): Promise<string[][]> {
  const { task, graph } = await readTextModel(await describeModel(folder));
  const heldOut = JSON.parse(await readFile(join(folder, "held-out.json"), "utf8"));
  const score = task.task === "tag" ? tagScore(task.labels, heldOut) : answerScore(heldOut);
  const row = async (label: string, session: EngineSession, fp32 = Number.NaN): Promise<[string[], number]> => {
    const found = await score(session);
    await session.release();
    return [[task.task, label, found.toFixed(2), (found - fp32).toFixed(2)], found];
  };
  const original = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
  const [first, fp32] = await row("float32, not fused", original, undefined);
  return withWorkFolder(tmpdir(), async (work) => {
    const { manifest } = await prepare({ model: folder, out: join(work, "artifact"), name: "heads" });
    const rows = [first];
    for (const [name, target] of Object.entries(manifest.targets)) {
      if (!target) continue;
      const { engine, precision, model } = target;
      const loaded = await engineOnThisMachine(engine);
      const session = await loaded.load(oneModel(new Uint8Array(await readFile(join(work, "artifact", model)))));
      rows.push((await row(`${name}: ${precision} on ${engine}`, session, fp32))[0]);
    }
    return rows;
  });
}

const [folder = ""] = process.argv.slice(2);
const rows = [...(await scores(join(folder, "tag"))), ...(await scores(join(folder, "answer")))];
printResult(table(["task", "model", "F1", "change"], rows));
