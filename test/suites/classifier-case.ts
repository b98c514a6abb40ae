import { readFileSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { float32Tensor, safetensorsFile } from "./safetensors-file.ts";
import { randomNumbers } from "./seeded.ts";

/** A tiny classifier and what transformers computes with it; test/golden/classifiers.py makes them. */
export interface ClassifierCase {
  readonly name: string;
  /** Its config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Names and shapes of its tensors, in the order in which their values are drawn. */
  readonly tensors: string;
  /** Of each row of `classifierIds`. */
  readonly logits: readonly number[][];
}

interface Golden {
  readonly ids: readonly number[][];
  readonly cases: Readonly<Record<string, Omit<ClassifierCase, "name">>>;
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "../golden/classifiers.json"), "utf8")) as Golden;

export const classifierCases: readonly ClassifierCase[] = Object.entries(golden.cases).map(([name, stored]) => ({
  name,
  ...stored,
}));

export const caseOf = (name: string): ClassifierCase =>
  classifierCases.find((stored) => stored.name === name) as ClassifierCase;

/** Texts padded on the right with id 1. */
export const classifierIds = golden.ids;

/** A tensor's shape and values. */
export interface Drawn {
  shape: number[];
  values: Float32Array;
}

/** Gains around 1, everything else around 0. */
function draw(name: string, shape: readonly number[], random: () => number): Drawn {
  const [, columns] = shape;
  const center = columns || name.endsWith("bias") ? 0 : 1;
  const spread = columns ? 2 / Math.sqrt(columns) : 0.5;
  const length = shape.reduce((product, size) => product * size, 1);
  return {
    shape: [...shape],
    values: Float32Array.from({ length }, () => center + spread * (2 * random() - 1)),
  };
}

/** What a test makes otherwise. */
export interface ClassifierEdit {
  /** Keys of config.json. */
  keys?: object;
  tensors?: (drawn: Map<string, Drawn>) => void;
}

/** Writes a case as a model folder whose tokenizer.json is empty. */
export async function writeClassifier(
  folder: string,
  { config, tensors }: ClassifierCase,
  edit: ClassifierEdit = {},
): Promise<void> {
  const random = randomNumbers(1);
  const drawn = new Map<string, Drawn>();
  for (const [, name = "", sizes = ""] of tensors.matchAll(/(\S+)=(\S+)/g)) {
    drawn.set(name, draw(name, sizes.split("x").map(Number), random));
  }
  edit.tensors?.(drawn);
  const stored = [...drawn].map(([name, { shape, values }]) => [name, float32Tensor(shape, values)]);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, ...edit.keys }));
  await writeFile(join(folder, "tokenizer.json"), "{}");
  await writeFile(join(folder, "model.safetensors"), safetensorsFile(Object.fromEntries(stored)));
}

/** Writes the BERT case with room for the default model's tokenizer, which makes it a folder that can be prepared. */
export async function writePreparableClassifier(folder: string, labels: readonly string[]): Promise<void> {
  const stored = caseOf("bert");
  const sizes = { "word_embeddings.weight": "30522x8", "position_embeddings.weight": "512x8" };
  const head = { "classifier.weight": `${labels.length}x8`, "classifier.bias": String(labels.length) };
  const tensors = Object.entries({ ...sizes, ...head }).reduce(
    (text, [name, size]) => text.replace(new RegExp(`(${name})=\\S+`), `$1=${size}`),
    stored.tensors,
  );
  const id2label = Object.fromEntries(labels.map((label, i) => [i, label]));
  const problem_type = labels.length === 1 ? "regression" : "single_label_classification";
  const keys = { vocab_size: 30_522, max_position_embeddings: 512, id2label, problem_type };
  await writeClassifier(folder, { ...stored, tensors }, { keys });
  for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
    await copyFile(join(import.meta.dirname, "../../models/default", file), join(folder, file));
  }
}
