import { sentenceVector } from "../tasks/sentence-vector.ts";
import type { EngineSession, TokenIds } from "./engine.ts";

/** Adds pooling to an engine that returns hidden states. */
export const withHead =
  (hiddenStatesOf: (sequences: readonly TokenIds[]) => Promise<Float32Array<ArrayBuffer>[]>): EngineSession["run"] =>
  async (sequences, head) => {
    const hiddenStates = await hiddenStatesOf(sequences);
    if (!head) return hiddenStates;
    return hiddenStates.map((rows, i) => sentenceVector(rows, rows.length / (sequences[i] as TokenIds).length, head));
  };
