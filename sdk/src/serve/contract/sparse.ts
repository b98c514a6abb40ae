import type * as v from "valibot";
import { type AnswerFields, ownBody, PromptName, Texts, Truncate } from "./fields.ts";

/** The body of `POST /v1/sparse`. */
export const SparseRequest = ownBody({ inputs: Texts, truncate: Truncate, prompt_name: PromptName });
export type SparseRequest = v.InferInput<typeof SparseRequest>;

export interface SparseResponse extends AnswerFields {
  /** The weights above 0 of each input. The indices are token ids, and rise. */
  embeddings: { indices: number[]; values: number[] }[];
}
