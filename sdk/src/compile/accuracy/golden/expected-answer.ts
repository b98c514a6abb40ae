import type { Task } from "../../../artifact/manifest.ts";
import { shown } from "../../../artifact/shown.ts";

/** Error that says why a line of a golden file cannot be used. `readGolden` adds the file and the number of the line. */
export class Misfit extends Error {
  override readonly name = "Misfit";
  /** `data_invalid` for a wrong format, `data_unsuitable` for a line that does not fit the model. */
  readonly code: "data_invalid" | "data_unsuitable";

  constructor(code: Misfit["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** The model that a golden file is for. */
export interface GoldenModel {
  readonly task: Task;
  readonly vocabulary: number;
}

/** The answer of the user's present system. */
export type Expected =
  /** One vector, or one vector per token. A sparse vector has one weight for each token of the vocabulary. */
  | { readonly kind: "vectors"; readonly rows: readonly Float32Array<ArrayBuffer>[] }
  /** The relevance of a pair, by a model with one label. */
  | { readonly kind: "score"; readonly score: number }
  /** Scores by label. Labels that are missing are not compared. */
  | { readonly kind: "scores"; readonly scores: ReadonlyMap<string, number> }
  /** The label with the highest score. */
  | { readonly kind: "label"; readonly label: string };

/**
 * Reads the answer of a line.
 *
 * @param key key of the answer in the line
 * @throws Misfit
 */
export function readExpectedAnswer(key: string, value: unknown, { task, vocabulary }: GoldenModel): Expected {
  if (task.task === "embed") return { kind: "vectors", rows: [vectorOf(key, value, task.dimensions)] };
  if (task.task === "token-vectors") return { kind: "vectors", rows: rowsOf(key, value, task.dimensions) };
  if (task.task === "sparse") return { kind: "vectors", rows: [sparseOf(key, value, vocabulary)] };
  if (task.task !== "classify")
    throw new Misfit("data_unsuitable", `Answers of the task ${task.task} are not compared.`);
  if (key === "label") return { kind: "label", label: labelOf(value, task.labels) };
  if (key === "scores") return { kind: "scores", scores: scoresOf(value, task.labels) };
  if (task.labels.length === 1) return { kind: "score", score: numberOf("`score`", value) };
  throw new Misfit(
    "data_unsuitable",
    `\`score\` is for models with one label. This model needs \`scores\`, one for each of ${task.labels.length} labels.`,
  );
}

function numberOf(what: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Misfit("data_invalid", `${what} is ${shown(value)}, which is not a finite number.`);
}

function listOf(key: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Misfit("data_invalid", `\`${key}\` is ${shown(value)}, which is not a list.`);
}

function vectorOf(key: string, value: unknown, dimensions: number): Float32Array<ArrayBuffer> {
  const list = listOf(key, value);
  if (list.length !== dimensions) {
    throw new Misfit(
      "data_unsuitable",
      `\`${key}\` has ${list.length} numbers, but the model's vectors have ${dimensions}.`,
    );
  }
  const vector = Float32Array.from(list, (each, i) => numberOf(`\`${key}\`[${i}]`, each));
  const wide = vector.findIndex((each) => !Number.isFinite(each));
  if (wide >= 0)
    throw new Misfit("data_invalid", `\`${key}\`[${wide}] is ${shown(list[wide])}, which is too large for float32.`);
  if (vector.some((each) => each !== 0)) return vector;
  throw new Misfit("data_invalid", `\`${key}\` has only zeros.`);
}

function rowsOf(key: string, value: unknown, dimensions: number): Float32Array<ArrayBuffer>[] {
  const rows = listOf(key, value).map((row, i) => vectorOf(`${key}[${i}]`, row, dimensions));
  if (rows.length > 0) return rows;
  throw new Misfit("data_invalid", `\`${key}\` has no vectors.`);
}

function sparseOf(key: string, value: unknown, vocabulary: number): Float32Array<ArrayBuffer> {
  const { indices, values } = Object(value) as { indices?: unknown; values?: unknown };
  const [at, weights] = [listOf(`${key}.indices`, indices), listOf(`${key}.values`, values)];
  if (at.length !== weights.length) {
    throw new Misfit("data_invalid", `\`${key}\` has ${at.length} indices and ${weights.length} values.`);
  }
  const vector = new Float32Array(vocabulary);
  at.forEach((index, i) => {
    if (!Number.isSafeInteger(index) || (index as number) < 0 || (index as number) >= vocabulary) {
      throw new Misfit(
        "data_unsuitable",
        `\`${key}.indices\`[${i}] is ${shown(index)}, but the model's token ids are 0 to ${vocabulary - 1}.`,
      );
    }
    vector[index as number] = numberOf(`\`${key}.values\`[${i}]`, weights[i]);
  });
  return vector;
}

function labelOf(value: unknown, labels: readonly string[]): string {
  if (typeof value === "string" && labels.includes(value)) return value;
  throw new Misfit("data_unsuitable", `The model has no label ${shown(value)}. Its labels: ${listed(labels)}.`);
}

/** Reads numbers in the order of the model's labels, or objects with a label and a score, as transformers' pipelines return. */
function scoresOf(value: unknown, labels: readonly string[]): Map<string, number> {
  const list = listOf("scores", value);
  if (list.length === 0) throw new Misfit("data_invalid", "`scores` is empty.");
  if (list.every((each) => typeof each === "object" && each !== null)) {
    const pairs = list.map((each, i) => {
      const { label, score } = each as { label?: unknown; score?: unknown };
      return [labelOf(label, labels), numberOf(`\`scores\`[${i}].score`, score)] as const;
    });
    const scores = new Map(pairs);
    if (scores.size === pairs.length) return scores;
    throw new Misfit("data_invalid", "`scores` has a label twice.");
  }
  if (list.length !== labels.length) {
    throw new Misfit(
      "data_unsuitable",
      `\`scores\` has ${list.length} numbers, but the model has ${labels.length} labels.`,
    );
  }
  return new Map(labels.map((label, i) => [label, numberOf(`\`scores\`[${i}]`, list[i])]));
}

/** Maximum number of labels that a message lists. */
const LISTED = 10;

const listed = (labels: readonly string[]): string =>
  `${labels.slice(0, LISTED).join(", ")}${labels.length > LISTED ? ` and ${labels.length - LISTED} more` : ""}`;
