import * as v from "valibot";
import { ownAnswer, ownBody, PromptName, Texts, Truncate } from "./fields.ts";

/** The body of `POST /v1/sparse`. */
export const SparseRequest = ownBody({ inputs: Texts, truncate: Truncate, prompt_name: PromptName });
export type SparseRequest = v.InferInput<typeof SparseRequest>;

export const SparseResponse = ownAnswer({
  /** The weights above 0 of each input. The indices are token ids, and rise. */
  embeddings: v.array(v.object({ indices: v.array(v.number()), values: v.array(v.number()) })),
});
export type SparseResponse = v.InferOutput<typeof SparseResponse>;
