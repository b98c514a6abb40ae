import * as v from "valibot";
import { type AnswerFields, ownBody, PositiveInteger, Texts, Truncate } from "./fields.ts";

/** The body of `POST /v1/fill-mask`. */
export const FillMaskRequest = ownBody({
  /** Texts with the model's mask token, such as `[MASK]`, at least once. */
  inputs: Texts,
  /** Maximum number of tokens for each mask token. */
  top_k: v.optional(PositiveInteger, 5),
  /** Tokens of which the results are chosen. Of words that are no tokens, the first token counts. Default: all. */
  targets: v.optional(v.pipe(v.array(v.string()), v.minLength(1, "must have at least one token"))),
  truncate: Truncate,
});
export type FillMaskRequest = v.InferInput<typeof FillMaskRequest>;

export interface MaskResult {
  token: string;
  token_id: number;
  score: number;
  /** The input with this token in place of the mask token. With several mask tokens, special tokens are shown too. */
  sequence: string;
}

export interface FillMaskResponse extends AnswerFields {
  /** For each input, and for each of its mask tokens: the most probable tokens, best first. */
  results: MaskResult[][][];
}
