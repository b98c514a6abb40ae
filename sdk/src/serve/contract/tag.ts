import * as v from "valibot";
import { type AnswerFields, ownBody, Texts, Truncate } from "./fields.ts";

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
export interface EntityResult {
  label: string;
  score: number;
  text: string;
  start: number;
  end: number;
}

export interface TagResponse extends AnswerFields {
  /** The entities of each input, in the order of the text. */
  results: EntityResult[][];
}
