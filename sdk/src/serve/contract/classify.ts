import * as v from "valibot";
import { ownAnswer, ownBody, PositiveInteger, ScoredLabel, Truncate } from "./fields.ts";

const Input = v.union(
  [v.string(), v.object({ text: v.string(), text_pair: v.string() })],
  "must be a string, or an object with `text` and `text_pair`",
);

/** The body of `POST /v1/classify`. */
export const ClassifyRequest = ownBody({
  inputs: v.union(
    [Input, v.array(Input)],
    "must be a string, an object with `text` and `text_pair`, or a list of these",
  ),
  truncate: Truncate,
  /** Maximum number of labels per input. Default: all. */
  top_k: v.optional(PositiveInteger),
  /** How logits become scores. Default: that of the model, as in transformers. */
  function_to_apply: v.optional(v.picklist(["softmax", "sigmoid", "none"])),
});
export type ClassifyRequest = v.InferInput<typeof ClassifyRequest>;

export type LabelResult = v.InferOutput<typeof ScoredLabel>;

export const ClassifyResponse = ownAnswer({
  /** The labels of each input, best first. */
  results: v.array(v.array(ScoredLabel)),
});
export type ClassifyResponse = v.InferOutput<typeof ClassifyResponse>;
