import { sentenceVector } from "../tasks/sentence-vector.ts";
import type { EngineSession, TokenIds } from "./engine.ts";

/** An engine's `run` from one that gives token states: for engines that leave pooling to us. */
export const withHead =
  (statesOf: (sequences: readonly TokenIds[]) => Promise<Float32Array<ArrayBuffer>[]>): EngineSession["run"] =>
  async (sequences, head) => {
    const states = await statesOf(sequences);
    if (!head) return states;
    return states.map((rows, i) => sentenceVector(rows, rows.length / (sequences[i] as TokenIds).length, head));
  };
