import { sideBySide } from "../../artifact/side-by-side.ts";
import { sentenceVector } from "../tasks/sentence-vector.ts";
import { sequencesOf, together } from "./batching.ts";
import type { Batching, EngineSession, TokenSequence } from "./engine.ts";
import { idsOf, pooledFromOf } from "./token-sequence.ts";

/**
 * Runs the sequences of a request batch by batch.
 *
 * @param parallel number of batches that run at the same time
 */
export const inBatches =
  (run: EngineSession["run"], batching: Batching, parallel = 1): EngineSession["run"] =>
  async (sequences, head) => {
    const results = new Array<Float32Array<ArrayBuffer>>(sequences.length);
    await sideBySide(batching(sequences.map(idsOf)), parallel, async (batch) => {
      const found = await run(sequencesOf(sequences, batch), head);
      batch.forEach((index, i) => {
        results[index] = found[i] as Float32Array<ArrayBuffer>;
      });
    });
    return results;
  };

/**
 * Adds batching and pooling to an engine that returns hidden states. Each batch is pooled before the next one runs,
 * because the hidden states of a large request can be hundreds of megabytes.
 */
export const withHead = (
  hiddenStatesOf: (sequences: readonly TokenSequence[]) => Promise<Float32Array<ArrayBuffer>[]>,
  batching: Batching = together,
): EngineSession["run"] =>
  inBatches(async (sequences, head) => {
    const hiddenStates = await hiddenStatesOf(sequences);
    if (!head) return hiddenStates;
    return hiddenStates.map((rows, i) => {
      const sequence = sequences[i] as TokenSequence;
      const width = rows.length / idsOf(sequence).length;
      return sentenceVector(rows.subarray(pooledFromOf(sequence) * width), width, head);
    });
  }, batching);
