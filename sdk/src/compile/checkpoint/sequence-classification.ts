import type { Encoder } from "./checkpoint.ts";
import { EncoderConfigJson } from "./encoder-config-json.ts";
import { namesOf } from "./encoder-weights.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import type { HeadFormula } from "./head-formula.ts";
import { Labels } from "./labels.ts";
import { readConfig, readTokenizer, readWeights, type TokenizerFiles } from "./model-folder.ts";
import { type LayerNormWeights, type LinearWeights, weightTaker } from "./take-weights.ts";
import { expectHead } from "./task-head.ts";

/** A text classifier (...ForSequenceClassification in transformers). */
export interface Classifier extends Encoder, Labels {
  readonly head: HeadFormula;
  readonly tokenizer: TokenizerFiles;
}

/** Weights of a classifier's head; `HeadFormula` describes them. */
export interface HeadWeights {
  readonly dense: LinearWeights;
  readonly norm: LayerNormWeights | undefined;
  /** Linear layer that computes one logit per label. */
  readonly output: LinearWeights;
}

/**
 * Reads config.json, tokenizer.json and model.safetensors of a classifier's folder.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `safetensors_invalid`; `checkpoint_unsupported` if
 *   the model has another task head or none
 */
export const readClassifier = async (folder: string): Promise<Classifier> => ({
  ...(await describeClassifier(folder)),
  weights: readWeights(folder),
});

/**
 * Reads everything that `readClassifier` does, except the weights.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function describeClassifier(folder: string): Promise<Omit<Classifier, "weights">> {
  const config = await readConfig(folder, EncoderConfigJson);
  await expectHead(folder, "sequence-classification");
  const head = await readConfig(folder, (families[config.modelType] as Family).head);
  const labels = await readConfig(folder, Labels);
  const tokenizer = await readTokenizer(folder);
  return { folder, config, head, ...labels, tokenizer };
}

/**
 * Picks the weights of a classifier's head from its checkpoint.
 *
 * @throws BertEdgeError `checkpoint_invalid`, and the errors of `encoderWeights`
 */
export function headWeights(classifier: Classifier): HeadWeights {
  const { config, head, labels } = classifier;
  const { hiddenSize: hidden } = config;
  const take = weightTaker(classifier, "");
  return {
    dense: take.linear(head.dense(namesOf(classifier).prefix), hidden, hidden, head.denseBias),
    norm: head.norm === undefined ? undefined : take.layerNorm(head.norm, hidden, config.hasNormBias),
    output: take.linear(head.output, labels.length, hidden, true),
  };
}
