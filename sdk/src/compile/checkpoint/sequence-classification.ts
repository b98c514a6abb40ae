import { expectHead } from "./architectures.ts";
import type { Encoder } from "./checkpoint.ts";
import { EncoderConfig } from "./encoder-config.ts";
import { namesOf } from "./encoder-weights.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import type { HeadFormula } from "./head-formula.ts";
import { Labels } from "./labels.ts";
import { readConfig, readTokenizer, readWeights, type TokenizerFiles } from "./model-folder.ts";
import { type LayerNorm, type Linear, taker } from "./take-weights.ts";

/** A classifier of texts (...ForSequenceClassification in transformers) in memory. */
export interface Classifier extends Encoder, Labels {
  readonly head: HeadFormula;
  readonly tokenizer: TokenizerFiles;
}

/** What a classifier has after its encoder; HeadFormula says what each is. */
export interface HeadWeights {
  readonly dense: Linear;
  readonly norm: LayerNorm | undefined;
  /** To as many numbers as labels. */
  readonly output: Linear;
}

/**
 * Reads config.json, tokenizer.json and model.safetensors of a classifier's folder.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `safetensors_invalid`; `checkpoint_unsupported` for
 *   folders with another head or none
 */
export const readClassifier = async (folder: string): Promise<Classifier> => ({
  ...(await describeClassifier(folder)),
  weights: readWeights(folder),
});

/**
 * Reads all but the weights.
 *
 * @throws BertEdgeError as `readClassifier`
 */
export async function describeClassifier(folder: string): Promise<Omit<Classifier, "weights">> {
  const config = await readConfig(folder, EncoderConfig);
  await expectHead(folder, "sequence-classification");
  const head = await readConfig(folder, (families[config.model_type] as Family).head);
  const labels = await readConfig(folder, Labels);
  const tokenizer = await readTokenizer(folder);
  return { folder, config, head, ...labels, tokenizer };
}

/**
 * Picks the weights of a classifier's head out of its checkpoint.
 *
 * @throws BertEdgeError `checkpoint_invalid`, as `encoderWeights`
 */
export function headWeights(classifier: Classifier): HeadWeights {
  const { config, head, labels } = classifier;
  const { hidden_size: hidden } = config;
  const take = taker(classifier, "");
  return {
    dense: take.linear(head.dense(namesOf(classifier).prefix), hidden, hidden, head.denseBias),
    norm: head.norm === undefined ? undefined : take.layerNorm(head.norm, hidden, config.norm_bias),
    output: take.linear(head.output, labels.length, hidden, true),
  };
}
