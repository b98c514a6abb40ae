import type { EngineSession, TokenIds } from "../../runtime/engine/engine.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import type { LatencyPoint } from "./fit-latency.ts";

export interface SideBySideOptions {
  /** Sequence lengths to time. */
  readonly tokens: readonly number[];
  /** Number of timed rounds. Each round times every engine once at every length. */
  readonly rounds: number;
  readonly vocabulary: number;
  /** Called after each round. Round 0 is the warm-up and is not timed. */
  readonly onRound?: ((round: number, rounds: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Times sessions side by side. Every round runs all sessions at all lengths, so that a change in the machine's speed
 * affects all of them.
 *
 * @returns for every session, one point per length with the median time over the rounds
 * @throws BertEdgeError `aborted`
 */
export async function timeSideBySide<Name>(
  sessions: ReadonlyMap<Name, EngineSession>,
  { tokens, rounds, vocabulary, onRound, signal }: SideBySideOptions,
): Promise<Map<Name, LatencyPoint[]>> {
  const samples = new Map(
    [...sessions.keys()].map((name) => [name, new Map<number, number[]>(tokens.map((n) => [n, []]))]),
  );
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const length of tokens) {
      throwIfAborted(signal);
      const input = [sampleSequence(length, vocabulary)];
      for (const [name, session] of sessions) {
        const start = performance.now();
        await session.run(input);
        const ms = performance.now() - start;
        if (round > 0) samples.get(name)?.get(length)?.push(ms);
      }
    }
    onRound?.(round, rounds);
  }
  const points = (times: Map<number, number[]>) =>
    [...times].map(([length, ms]) => ({ tokens: length, ms: median(ms) }));
  return new Map([...samples].map(([name, times]) => [name, points(times)]));
}

/**
 * Returns token ids spread over the vocabulary. A text of equal ids would run faster than a real text, because its only
 * embedding stays in the cache.
 */
const sampleSequence = (length: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => (i * 7919 + length) % vocabulary);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
