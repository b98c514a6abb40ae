import * as v from "valibot";
import { ownAnswer, ownBody, Texts, Truncate } from "./fields.ts";

/** The body of `POST /v1/tag`. */
export const TagRequest = ownBody({
  inputs: Texts,
  /** How tokens become entities, as in transformers. */
  aggregation_strategy: v.optional(v.picklist(["none", "simple", "first", "average", "max"]), "simple"),
  /** Labels that are left out, without B- and I- unless the strategy is `none`. */
  ignore_labels: v.optional(v.array(v.string()), ["O"]),
  truncate: Truncate,
});
export type TagRequest = v.InferInput<typeof TagRequest>;

/** Part of an input with a label. Offsets count Unicode code points, as in transformers. */
const EntityResult = v.object({
  label: v.string(),
  score: v.number(),
  text: v.string(),
  start: v.number(),
  end: v.number(),
});
export type EntityResult = v.InferOutput<typeof EntityResult>;

export const TagResponse = ownAnswer({
  /** The entities of each input, in the order of the text. */
  results: v.array(v.array(EntityResult)),
});
export type TagResponse = v.InferOutput<typeof TagResponse>;
