import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
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
