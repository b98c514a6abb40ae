import type { TokenIds, TokenSequence } from "./engine.ts";

export const idsOf = (sequence: TokenSequence): TokenIds => ("ids" in sequence ? sequence.ids : sequence);

/** Returns the index of the first token with token type 1; the number of tokens if all have type 0. */
export const secondFromOf = (sequence: TokenSequence): number =>
  "ids" in sequence ? sequence.secondFrom : sequence.length;
