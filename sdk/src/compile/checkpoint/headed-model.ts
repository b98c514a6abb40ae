import { BertEdgeError } from "../../artifact/error.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { namesOf } from "./encoder-weights.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import type { DenseLayer, HeadFormula, HeadOutput, HeadTransform } from "./head-formula.ts";
import { lateInteraction } from "./late-interaction.ts";
import { readConfig } from "./model-folder.ts";
import type { ModelPlace } from "./model-place.ts";
import { readEncoderConfig } from "./read-encoder-config.ts";
import type { Encoder } from "./take-weights.ts";
import { type LayerNormWeights, type LinearWeights, type WeightTaker, weightTaker } from "./take-weights.ts";
import { type Head, Labels } from "./task-head.ts";

/** An encoder with a task head. */
export interface HeadedModel extends Encoder {
  readonly kind: Head;
  readonly head: HeadFormula;
  /** Number of values that the head computes for each text or token. */
  readonly outputs: number;
  /** Labels of a classifier; empty for other heads. */
  readonly labels: readonly string[];
  readonly problemType: Labels["problemType"];
  /** Paths, relative to `folder`, of the modules whose files have the head's weights; empty if the encoder's file has them. */
  readonly modules: readonly string[];
}

/** Weights of a head; `HeadFormula` describes them. */
export interface HeadWeights {
  readonly transform: { readonly dense: LinearWeights; readonly norm: LayerNormWeights | undefined } | undefined;
  readonly projections: readonly DenseWeights[];
  readonly output: LinearWeights | undefined;
}

/** Weights of a linear layer that projects vectors; `DenseLayer` describes them. */
export interface DenseWeights {
  readonly linear: LinearWeights;
  /** Weight that x is multiplied with for the residual; undefined if x itself is the residual, or if there is no residual. */
  readonly residual: LinearWeights | undefined;
}

/**
 * Reads config.json of a folder whose model has a task head: the head, its labels and where its weights are.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function describeHeadedModel(
  { root, folder }: Pick<ModelPlace, "root" | "folder">,
  head: Head,
): Promise<Omit<HeadedModel, "weights">> {
  const config = await readEncoderConfig(folder);
  const common = { folder, config, kind: head, labels: [], problemType: undefined, modules: [] };
  if (head === "late-interaction") return { ...common, ...(await lateInteraction(root, folder, config.hiddenSize)) };
  const { heads } = families[config.modelType] as Family;
  const formula = await readConfig(folder, heads[head] ?? noHead(folder, config.modelType, head));
  if (head === "masked-lm") return { ...common, head: formula, outputs: config.vocabularySize };
  if (head === "question-answering") return { ...common, head: formula, outputs: STARTS_AND_ENDS };
  const { labels, problemType } = await readConfig(folder, Labels);
  return { ...common, head: formula, outputs: labels.length, labels, problemType };
}

/** Number of logits per token in question answering: one for the start of the answer, one for its end. */
const STARTS_AND_ENDS = 2;

/**
 * Picks the weights of a head from the checkpoint.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export function headWeights(model: HeadedModel): HeadWeights {
  const { config, head } = model;
  const take = weightTaker(model, "");
  const widths = { hidden: config.hiddenSize, embedding: config.embeddingSize };
  const width = widths[head.transform?.width ?? "hidden"];
  return {
    transform: head.transform && transformWeights(head.transform, take, namesOf(model).prefix, config, width),
    projections: (head.projections ?? []).map((projection) => denseWeights(projection, take)),
    output: head.output && outputWeights(model, head.output, take, width),
  };
}

const denseWeights = ({ name, inputs, outputs, hasBias, residual }: DenseLayer, take: WeightTaker): DenseWeights => ({
  linear: take.linear(name, outputs, inputs, hasBias),
  residual: typeof residual === "object" ? take.linear(residual.name, outputs, inputs, false) : undefined,
});

function outputWeights(
  model: HeadedModel,
  { name, bias, isTied }: HeadOutput,
  take: WeightTaker,
  width: number,
): LinearWeights {
  const { weights } = model;
  const names = namesOf(model);
  assertLabelCount(model, `${name}.weight`, width);
  // Checkpoints of tied layers can have the bias as `<name>.bias`, under the name in `bias`, or under both names.
  const biasName = bias !== undefined && weights.has(`${name}.bias`) ? `${name}.bias` : bias;
  const takesTable = isTied && !weights.has(`${name}.weight`);
  const weight = takesTable
    ? weightTaker(model, names.prefix).tensor(`${names.tokens}.weight`, model.outputs, width)
    : take.tensor(`${name}.weight`, model.outputs, width);
  return { weight, bias: biasName === undefined ? undefined : take.tensor(biasName, model.outputs) };
}

/** Refuses a classifier whose weight matrix has more or fewer rows than config.json has labels. */
function assertLabelCount({ folder, labels, weights }: HeadedModel, name: string, width: number): void {
  const shape = weights.get(name)?.shape ?? [];
  const [rows = labels.length, columns] = shape;
  if (labels.length === 0 || rows === labels.length || columns !== width) return;
  throw new BertEdgeError(
    "checkpoint_invalid",
    `${folder} should have the tensor ${name} of shape [${labels.length},${width}], but its shape is [${shape}].`,
    {
      hint: `config.json and the weights must come from the same model. If they do, give id2label of config.json the names of the ${rows} labels, with the keys 0 to ${rows - 1}.`,
    },
  );
}

const transformWeights = (
  { dense, denseBias, norm }: HeadTransform,
  take: WeightTaker,
  prefix: string,
  { hiddenSize, hasNormBias }: EncoderConfig,
  width: number,
): HeadWeights["transform"] => ({
  dense: take.linear(dense(prefix), width, hiddenSize, denseBias),
  norm: norm === undefined ? undefined : take.layerNorm(norm, width, hasNormBias),
});

function noHead(folder: string, family: string, head: Head): never {
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: ${family} has no head for ${head} in transformers.`, {
    hint: "Check architectures and model_type in config.json.",
  });
}
