import { sequencesOf } from "./batching.ts";
import type { Batching, EngineSession, TokenSequence, VectorHead } from "./engine.ts";
import { idsOf } from "./token-sequence.ts";

type Run = EngineSession["run"];

/** A call of `run`. */
interface Call {
  readonly sequences: readonly TokenSequence[];
  readonly head: VectorHead | undefined;
  readonly results: Float32Array<ArrayBuffer>[];
  /** Number of sequences without a result. */
  left: number;
  readonly resolve: (results: Float32Array<ArrayBuffer>[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A sequence that waits for a batch: `call.sequences[index]`. */
interface Waiting {
  readonly call: Call;
  readonly index: number;
}

/**
 * Lets calls share batches: sequences that arrive while a batch runs are computed in the next batches. No call waits for other
 * calls to arrive, so a call on an idle engine starts at once. The batch with the oldest sequence always runs next.
 *
 * @param run runs one batch. It is called again only after the batch has ended
 * @param batching splits the waiting sequences that have the same head into batches
 */
export function mergedRuns(run: Run, batching: Batching): Run {
  let waiting: Waiting[] = [];
  let isRunning = false;

  /** Removes the sequences of the next batch from `waiting`, and returns them. */
  function take(): Waiting[] {
    const { head } = (waiting[0] as Waiting).call;
    const alike = waiting.filter(({ call }) => isSameHead(call.head, head));
    const lengths = alike.map(({ call, index }) => idsOf(call.sequences[index] as TokenSequence));
    const batch = sequencesOf(alike, batching(lengths).find((indices) => indices.includes(0)) ?? [0]);
    const taken = new Set(batch);
    waiting = waiting.filter((one) => !taken.has(one));
    return batch;
  }

  async function compute(batch: readonly Waiting[]): Promise<void> {
    const calls = new Set(batch.map(({ call }) => call));
    const sequences = batch.map(({ call, index }) => call.sequences[index] as TokenSequence);
    try {
      const results = await run(sequences, (batch[0] as Waiting).call.head);
      batch.forEach(({ call, index }, i) => {
        call.results[index] = results[i] as Float32Array<ArrayBuffer>;
        if (--call.left === 0) call.resolve(call.results);
      });
    } catch (error) {
      // Runs each call of the batch alone, so that no call fails because of another call's sequences.
      if (calls.size > 1) {
        for (const one of calls) await compute(batch.filter(({ call }) => call === one));
        return;
      }
      waiting = waiting.filter(({ call }) => !calls.has(call));
      for (const { reject } of calls) reject(error);
    }
  }

  async function computeAll(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) await compute(take());
    isRunning = false;
  }

  return async (sequences, head) => {
    if (sequences.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array<ArrayBuffer>[]>();
    const call: Call = {
      sequences,
      head,
      results: new Array(sequences.length),
      left: sequences.length,
      resolve,
      reject,
    };
    waiting.push(...sequences.map((_, index) => ({ call, index })));
    if (!isRunning) void computeAll();
    return promise;
  };
}

const isSameHead = (a: VectorHead | undefined, b: VectorHead | undefined): boolean =>
  a?.pooling === b?.pooling && a?.normalize === b?.normalize;
