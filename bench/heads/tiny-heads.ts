import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { writePreparableHead } from "#test/fixtures/classifier-case.ts";

const TEXTS = 8;

/** Writes models with random heads, and texts with made answers, in the format of train_heads.py. */
export async function writeTinyHeads(folder: string): Promise<void> {
  const [tag, answer] = [join(folder, "tag"), join(folder, "answer")];
  await writePreparableHead(tag, "token-classification");
  await writePreparableHead(answer, "question-answering");
  const { encode } = await readTextModel(await describeModel(tag));
  const ids = encode(calibrationTexts.slice(0, TEXTS)).map((sequence) => [...(sequence as Int32Array)]);
  const tagged = ids.map((ids) => ({ ids, labels: ids.map((_, i) => i % 2) }));
  const asked = ids.map((ids) => ({ ids, secondFrom: 1, start: 1, end: 2 }));
  await writeFile(join(tag, "held-out.json"), JSON.stringify(tagged));
  await writeFile(join(answer, "held-out.json"), JSON.stringify(asked));
}
