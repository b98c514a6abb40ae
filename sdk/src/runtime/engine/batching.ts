import type { Batching } from "./engine.ts";

/**
 * Maximum tokens per padded batch, padding included. It limits the GPU memory of a request. The value is the default of
 * text-embeddings-inference (`--max-batch-tokens`).
 */
export const PADDED_TOKENS = 16_384;

/** One batch of all sequences. */
export const together: Batching = (sequences) => [[...sequences.keys()]];

/**
 * One batch per sequence. On CPUs, extra calls cost less time than computing padded tokens. Dynamic quantization computes
 * scales from all texts of a call, so separate calls also make a text's vector independent of the other texts.
 */
export const oneByOne: Batching = (sequences) => Array.from(sequences.keys(), (index) => [index]);

/** Batches of up to `tokens` tokens, in order. A longer sequence is a batch of its own. */
export const inOrder =
  (tokens: number): Batching =>
  (sequences) => {
    const batches: number[][] = [];
    let room = 0;
    for (const [index, { length }] of sequences.entries()) {
      if (length > room) {
        batches.push([]);
        room = tokens;
      }
      batches.at(-1)?.push(index);
      room -= length;
    }
    return batches;
  };

/**
 * Batches of sequences of similar length, so that little is padded. A batch has at most `PADDED_TOKENS` tokens, padding
 * included; a longer sequence is a batch of its own. Used on GPUs.
 */
export const ofSimilarLength: Batching = (sequences) => {
  const lengthOf = (index: number) => (sequences[index] as { length: number }).length;
  const batches: number[][] = [];
  // The first sequence of a batch is its longest.
  for (const index of [...sequences.keys()].sort((a, b) => lengthOf(b) - lengthOf(a))) {
    const batch = batches.at(-1);
    if (batch && (batch.length + 1) * lengthOf(batch[0] as number) <= PADDED_TOKENS) batch.push(index);
    else batches.push([index]);
  }
  return batches;
};

/** Returns the sequences of a batch. */
export const sequencesOf = <T>(sequences: readonly T[], batch: readonly number[]): T[] =>
  batch.map((index) => sequences[index] as T);
