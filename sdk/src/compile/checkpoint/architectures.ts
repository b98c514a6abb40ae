import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readConfig } from "./model-folder.ts";

/** What a model computes from its encoder's states. */
export type Head = "none" | "sequence-classification";

/** By what follows "For" in transformers' names of its classes. Heads that guess words are for training and left off. */
const heads: Readonly<Record<string, Head>> = {
  MaskedLM: "none",
  PreTraining: "none",
  SequenceClassification: "sequence-classification",
};

const SUPPORTED =
  "Supported: encoders (also as ...ForMaskedLM or ...ForPreTraining) and classifiers of texts (...ForSequenceClassification).";

const Architectures = v.object({ architectures: v.nullish(v.array(v.string()), []) });

/**
 * The head that the architectures of a folder's config.json say it has; none where they say nothing.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`; `checkpoint_unsupported` for other heads
 */
export async function headOf(folder: string): Promise<Head> {
  const { architectures } = await readConfig(folder, Architectures);
  const found = architectures.map((name) => headOfClass(name) ?? unsupported(folder, `the head of ${name}`));
  return found.find((head) => head !== "none") ?? "none";
}

/** @throws BertEdgeError as `headOf`; `checkpoint_unsupported` for heads that are not the one wanted */
export async function expectHead(folder: string, wanted: Head): Promise<void> {
  const head = await headOf(folder);
  if (head === wanted) return;
  if (head === "none") unsupported(folder, "a model without a classifier's head where one is expected");
  unsupported(folder, "a classifier's head (...ForSequenceClassification) where an encoder is expected");
}

function headOfClass(name: string): Head | undefined {
  const [, head] = /For(.*)$/.exec(name) ?? [];
  if (head === undefined) return "none";
  return Object.hasOwn(heads, head) ? heads[head] : undefined;
}

function unsupported(folder: string, what: string): never {
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: ${what} is not supported so far.`, { hint: SUPPORTED });
}
