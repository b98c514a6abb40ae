import * as v from "valibot";
import { LatencyBudget, objectOf, ownAnswer, Truncate } from "./fields.ts";

const Index = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)));

/** Token ids as base64 of little-endian int32, with the optional fields of a `TokenSequence`. */
const Sequence = objectOf({
  ids: v.string(),
  /** Index of the first token with token type 1. */
  second_from: Index,
  /** Number of tokens, from the first one on, that all tokens attend to. */
  attended: Index,
  /** Index of the first token that is pooled. */
  pooled_from: Index,
});
export type SequenceJson = v.InferInput<typeof Sequence>;

/** The body of `POST /v1/outputs`: sequences, or texts while the edge has not loaded the model's tokenizer. */
export const OutputsRequest = objectOf({
  model: v.string(),
  sequences: v.optional(v.array(Sequence)),
  inputs: v.optional(v.array(v.union([v.string(), v.tuple([v.string(), v.string()])])), []),
  /** Whether inputs that are too long are cut. */
  truncate: Truncate,
  latency_budget_ms: LatencyBudget,
});
export type OutputsRequest = v.InferInput<typeof OutputsRequest>;

export const OutputsResponse = ownAnswer({
  /** The model's output for each sequence, as base64 of little-endian float32. */
  outputs: v.array(v.string()),
});
