import { ROW_PARAMETERS } from "../constants/memory.ts";
import { aligned } from "./memory-map.ts";

/** Offsets in the scratch memory of attention with terms of relative positions. They begin after attentionInt8's own part. */
export interface PositionScratch {
  /** i8 [tokens, size]: quantized queries, then quantized keys */
  readonly quantized: number;
  readonly parameters: number;
  /** f32 [tokens, buckets]: queries · position keys */
  readonly ofQueries: number;
  /** f32 [tokens, buckets]: keys · position queries */
  readonly ofKeys: number;
  /** f32 [tokens, tokens] */
  readonly biases: number;
  readonly end: number;
}

/** @param start end of attentionInt8's own scratch memory */
export function positionScratch(start: number, tokens: number, size: number, buckets: number): PositionScratch {
  const quantized = aligned(start);
  const parameters = aligned(quantized + tokens * size);
  const ofQueries = aligned(parameters + tokens * ROW_PARAMETERS);
  const ofKeys = ofQueries + 4 * tokens * buckets;
  const biases = ofKeys + 4 * tokens * buckets;
  return { quantized, parameters, ofQueries, ofKeys, biases, end: biases + 4 * tokens * tokens };
}
