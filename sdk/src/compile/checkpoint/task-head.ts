import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readConfig } from "./model-folder.ts";

/** Task head of a model: the layers that compute its result from the encoder's hidden states. */
export type Head = "none" | "sequence-classification";

/**
 * Task heads of model classes in transformers. A key is the part of the class name after "For". Language-model heads
 * count as "none", because they are only used in training.
 */
const heads: Readonly<Record<string, Head>> = {
  MaskedLM: "none",
  PreTraining: "none",
  SequenceClassification: "sequence-classification",
};

const SUPPORTED =
  "Supported: encoders (also as ...ForMaskedLM or ...ForPreTraining) and text classifiers (...ForSequenceClassification).";

const Architectures = v.object({ architectures: v.nullish(v.array(v.string()), []) });

/**
 * Reads the task head of a folder's model from `architectures` in config.json.
 *
 * @returns "none" if config.json lists no architecture
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`; `checkpoint_unsupported` for heads that
 *   are not in `heads`
 */
export async function headOf(folder: string): Promise<Head> {
  const { architectures } = await readConfig(folder, Architectures);
  const found = architectures.map(
    (name) => headOfClass(name) ?? unsupported(folder, `the head of ${name} is not supported so far`),
  );
  return found.find((head) => head !== "none") ?? "none";
}

/**
 * Checks that a folder's model has the wanted task head.
 *
 * @throws BertEdgeError the errors of `headOf`, and `checkpoint_unsupported` if the model has another head or none
 */
export async function expectHead(folder: string, wanted: Head): Promise<void> {
  const head = await headOf(folder);
  if (head === wanted) return;
  if (head === "none")
    unsupported(folder, "a classifier is expected, but config.json names a model without a task head");
  unsupported(folder, "an encoder is expected, but config.json names a classifier (...ForSequenceClassification)");
}

function headOfClass(name: string): Head | undefined {
  const [, head] = /For(.*)$/.exec(name) ?? [];
  if (head === undefined) return "none";
  return Object.hasOwn(heads, head) ? heads[head] : undefined;
}

function unsupported(folder: string, fault: string): never {
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: ${fault}.`, { hint: SUPPORTED });
}
