import type { MarkedTokens, TokenIds, TokenSequence } from "./engine.ts";

export const idsOf = (sequence: TokenSequence): TokenIds => ("ids" in sequence ? sequence.ids : sequence);

/** Returns the index of the first token with token type 1; the number of tokens if all have type 0. */
export const secondFromOf = (sequence: TokenSequence): number => {
  const { ids, secondFrom = ids.length } = marked(sequence);
  return secondFrom;
};

/** Returns the number of tokens at the start of the sequence that all tokens attend to. */
export const attendedOf = (sequence: TokenSequence): number => {
  const { ids, attended = ids.length } = marked(sequence);
  return attended;
};

/** Returns the index of the first token that is pooled. */
export const pooledFromOf = (sequence: TokenSequence): number => marked(sequence).pooledFrom ?? 0;

/** Returns what is wrong with a sequence's marks; undefined if they fit its tokens. */
export function faultOfMarks(sequence: TokenSequence): string | undefined {
  const { length } = idsOf(sequence);
  const isIn = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most;
  if (!isIn(secondFromOf(sequence), 0, length)) return "starts its second text outside its tokens";
  if (!isIn(attendedOf(sequence), 1, length))
    return `attends to ${attendedOf(sequence)} tokens; valid are 1 to ${length}`;
  if (!isIn(pooledFromOf(sequence), 0, length - 1)) return "pools none of its tokens";
  return undefined;
}

const marked = (sequence: TokenSequence): MarkedTokens => ("ids" in sequence ? sequence : { ids: sequence });
