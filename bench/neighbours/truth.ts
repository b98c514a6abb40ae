import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { float32Vectors } from "../float32-vectors.ts";
import { isRun, python, runTool } from "../run-tool.ts";
import { rowsOf } from "./encoder-process.ts";
import type { Versions } from "./results.ts";
import type { TextSet } from "./texts.ts";

/** Texts as token ids, which all forms get, and their float32 vectors. */
export interface Truth {
  readonly ids: readonly TokenIds[];
  readonly vectors: readonly Float32Array[];
}

export interface Truths {
  /** Name of the library that computed the vectors. */
  readonly by: string;
  /** Maximum tokens of a text, special tokens included. */
  readonly maxTokens: number;
  readonly versions: Versions;
  readonly bySet: ReadonlyMap<TextSet["id"], Truth>;
}

/**
 * Tokenizes and embeds the texts with sentence-transformers, and exports the model to `model.onnx` in `folder`.
 *
 * @param interpreter Python with sentence-transformers
 * @throws Error with Python's message
 */
export async function authorsTruths(
  interpreter: string,
  { model, sets, folder }: { model: string; sets: readonly TextSet[]; folder: string },
): Promise<Truths> {
  const texts = join(folder, "texts.json");
  await writeFile(texts, JSON.stringify(Object.fromEntries(sets.map((set) => [set.id, set.texts]))));
  const outcome = await runTool(python("neighbours/authors.py", interpreter), [model, texts, folder]);
  if (!isRun(outcome)) throw new Error(`sentence-transformers did not embed the texts: ${outcome.failure}`);
  const bySet = new Map<TextSet["id"], Truth>();
  for (const { id } of sets) {
    const lists = JSON.parse(await readFile(join(folder, `${id}.json`), "utf8")) as number[][];
    const bytes = new Uint8Array(await readFile(join(folder, `${id}.f32`)));
    bySet.set(id, { ids: lists.map((list) => Int32Array.from(list)), vectors: rowsOf(bytes, lists.length) });
  }
  return { by: "sentence-transformers", ...outcome.report, bySet };
}

/** Tokenizes the texts ourselves, and embeds them with the checkpoint's weights in onnxruntime: for short runs, without Python. */
export async function ownTruths(model: string, sets: readonly TextSet[]): Promise<Truths> {
  const { encode, maxTokens } = await readTextModel(await describeModel(model));
  const bySet = new Map<TextSet["id"], Truth>();
  for (const { id, texts } of sets) {
    bySet.set(id, { ids: encode(texts) as TokenIds[], vectors: await float32Vectors(model, texts) });
  }
  return { by: "onnxruntime", maxTokens, versions: {}, bySet };
}
