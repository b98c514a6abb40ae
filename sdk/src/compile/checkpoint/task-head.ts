import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { type ProblemType, problemTypes } from "../../artifact/manifest.ts";
import { Count } from "./config-keys.ts";
import { readConfig } from "./model-folder.ts";

/** Task head of a model: the layers that compute its result from the encoder's hidden states. */
export type Head =
  | "sequence-classification"
  | "token-classification"
  | "question-answering"
  | "masked-lm"
  | "late-interaction";

/** Task heads of model classes in transformers. A key is the part of the class name after "For". */
const heads: Readonly<Record<string, Head | "none">> = {
  MaskedLM: "masked-lm",
  // These heads are only used in training.
  PreTraining: "none",
  SequenceClassification: "sequence-classification",
  TokenClassification: "token-classification",
  QuestionAnswering: "question-answering",
};

/** Classes that are not in transformers, and do not follow its names. */
const otherClasses: Readonly<Record<string, Head>> = {
  // https://github.com/stanford-futuredata/ColBERT
  HF_ColBERT: "late-interaction",
};

const SUPPORTED = `Supported: encoders, and ${Object.keys(heads)
  .map((head) => `...For${head}`)
  .join(", ")}.`;

const Architectures = v.object({ architectures: v.nullish(v.array(v.string()), []) });

/**
 * Reads the task head of a folder's model from `architectures` in config.json.
 *
 * @returns "none" if config.json lists no architecture
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`; `checkpoint_unsupported` for heads that
 *   are not in `heads`
 */
export async function headOf(folder: string): Promise<Head | "none"> {
  const { architectures } = await readConfig(folder, Architectures);
  const found = architectures.map(
    (name) => headOfClass(name) ?? unsupported(folder, `the head of ${name} is not supported so far`),
  );
  return (
    found.find((head) => head !== "none" && head !== "masked-lm") ?? found.find((head) => head !== "none") ?? "none"
  );
}

function headOfClass(name: string): Head | "none" | undefined {
  if (Object.hasOwn(otherClasses, name)) return otherClasses[name];
  const [, head] = /For(.*)$/.exec(name) ?? [];
  if (head === undefined) return "none";
  return Object.hasOwn(heads, head) ? heads[head] : undefined;
}

function unsupported(folder: string, fault: string): never {
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: ${fault}.`, { hint: SUPPORTED });
}

/** Number of labels if config.json gives none, as in transformers. */
const LABELS = 2;
/**
 * Maximum of `num_labels`. A wrong config.json could otherwise fill the memory, because names for all labels are made
 * before the tensors are checked.
 */
const MAX_LABELS = 100_000;

/** Labels of a classifier, from config.json. */
export interface Labels {
  /** Names by index; LABEL_0, LABEL_1, … (as in transformers) if config.json has none. */
  readonly labels: readonly string[];
  readonly problemType: ProblemType | undefined;
}

/** A label's name. It can be a number in the file, such as the stars of a review. */
const Name = v.pipe(v.union([v.string(), v.number()], "a label must be a text or a number"), v.transform(String));

/** An index as Python's `int` reads it. */
const Index = v.pipe(v.string(), v.regex(/^\s*\d{1,9}\s*$/, "id2label must have the indices of labels as keys"));

const Keys = v.object({
  id2label: v.nullish(v.record(Index, Name)),
  num_labels: v.nullish(v.pipe(Count, v.maxValue(MAX_LABELS))),
  problem_type: v.nullish(v.picklist(problemTypes, `problem_type must be one of ${problemTypes.join(", ")}`)),
  transformers_version: v.fallback(v.nullish(v.string()), undefined),
});
type Keys = v.InferOutput<typeof Keys>;

/**
 * Returns the label names by index. If num_labels is not the number of names in id2label, transformers 5 makes new names, and
 * older versions keep the names of id2label. The version that wrote the file decides.
 */
function labelNames({ id2label, num_labels, transformers_version }: Keys): ReadonlyMap<number, string> {
  const named = new Map(Object.entries(id2label ?? {}).map(([index, name]) => [Number(index), name] as const));
  const count = num_labels ?? (id2label ? named.size : LABELS);
  const isRenamed = count !== named.size && Number.parseInt(transformers_version ?? "", 10) >= 5;
  if (id2label && !isRenamed) return named;
  return new Map(Array.from({ length: count }, (_, i) => [i, `LABEL_${i}`]));
}

/** Returns the first index without a name; undefined if all indices have names. */
const gapOf = (names: ReadonlyMap<number, string>): number | undefined =>
  Array.from(names, (_, i) => i).find((i) => !names.has(i));

export const Labels: v.GenericSchema<unknown, Labels> = v.pipe(
  Keys,
  v.transform((keys) => ({ names: labelNames(keys), problemType: keys.problem_type ?? undefined })),
  v.check(({ names }) => names.size > 0, "id2label must name at least one label"),
  v.check(
    ({ names }) => gapOf(names) === undefined,
    ({ input: { names } }) =>
      `id2label has ${names.size} names, for the labels ${[...names.keys()].slice(0, 8).join(", ")}, but none for the label ${gapOf(names)}. Its keys must be 0 to ${names.size - 1}`,
  ),
  v.check(
    ({ names, problemType }) => problemType !== "single_label_classification" || names.size > 1,
    "single_label_classification needs at least two labels",
  ),
  v.transform(({ names, problemType }) => ({
    labels: Array.from(names, (_, i) => names.get(i) as string),
    problemType,
  })),
);
