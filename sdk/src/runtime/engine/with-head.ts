import { sentenceVector } from "../tasks/sentence-vector.ts";
import { sequencesOf, together } from "./batching.ts";
import type { Batching, EngineSession, TokenSequence } from "./engine.ts";
import { idsOf } from "./token-sequence.ts";

/**
 * Adds batching and pooling to an engine that returns hidden states. Each batch is pooled before the next one runs,
 * because the hidden states of a large request can be hundreds of megabytes.
 */
export const withHead =
  (
    hiddenStatesOf: (sequences: readonly TokenSequence[]) => Promise<Float32Array<ArrayBuffer>[]>,
    batching: Batching = together,
  ): EngineSession["run"] =>
  async (sequences, head) => {
    const results = new Array<Float32Array<ArrayBuffer>>(sequences.length);
    for (const batch of batching(sequences.map(idsOf))) {
      const hiddenStates = await hiddenStatesOf(sequencesOf(sequences, batch));
      batch.forEach((index, i) => {
        const rows = hiddenStates[i] as Float32Array<ArrayBuffer>;
        const { length } = idsOf(sequences[index] as TokenSequence);
        results[index] = head ? sentenceVector(rows, rows.length / length, head) : rows;
      });
    }
    return results;
  };
