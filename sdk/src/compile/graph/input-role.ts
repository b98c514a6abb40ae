import type { Graph } from "./graph.ts";
import type { Value } from "./node.ts";

/** Inputs of an encoder, by transformers' names. */
export const inputRoles = ["input_ids", "attention_mask", "token_type_ids"] as const;

export type InputRole = (typeof inputRoles)[number];

/** Names that other libraries give to the same inputs. */
const otherNames = new Map<string, InputRole>([
  // https://github.com/google-research/bert, run_classifier.py
  ["input_mask", "attention_mask"],
  ["segment_ids", "token_type_ids"],
  // Encoders of TensorFlow Hub: https://www.tensorflow.org/text/guide/bert_preprocessing_guide
  ["input_word_ids", "input_ids"],
  ["input_type_ids", "token_type_ids"],
  // Keras Hub: https://keras.io/keras_hub/api/models/bert
  ["token_ids", "input_ids"],
  ["padding_mask", "attention_mask"],
]);

/**
 * Returns the name of an input or output without the parts that TensorFlow adds: `:0`, the index of an operator's first result,
 * and `serving_default_`, the prefix of a SavedModel's default signature.
 */
export const plainName = (name: string): string => name.replace(/^serving_default_/, "").replace(/:0$/, "");

/** Returns the role of an encoder's input with this name; undefined for other names. */
export function inputRole(name: string): InputRole | undefined {
  const plain = plainName(name);
  return otherNames.get(plain) ?? inputRoles.find((role) => role === plain);
}

/** Returns the input of a graph that has a role. */
export const inputWithRole = ({ inputs }: Graph, role: InputRole): Value | undefined =>
  inputs.find(({ name }) => inputRole(name) === role);
