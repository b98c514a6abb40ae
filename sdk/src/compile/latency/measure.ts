import type { EngineSession, TokenIds } from "../../runtime/engine/engine.ts";
import type { CostPoint } from "./fit-cost.ts";

export interface MeasureOptions {
  /** Sequence lengths to time. */
  readonly tokens: readonly number[];
  /** Timed rounds; every round times every engine once at every length. */
  readonly rounds: number;
  readonly vocabulary: number;
  readonly onRound?: (round: number) => void;
}

/**
 * Times sessions side by side: rounds interleave engines and lengths, so that a change of the machine's speed meets all
 * of them alike, and the median over rounds is kept.
 *
 * @returns for every session a point a length
 */
export async function measureSideBySide<Name>(
  sessions: ReadonlyMap<Name, EngineSession>,
  { tokens, rounds, vocabulary, onRound = () => {} }: MeasureOptions,
): Promise<Map<Name, CostPoint[]>> {
  const samples = new Map(
    [...sessions.keys()].map((name) => [name, new Map<number, number[]>(tokens.map((n) => [n, []]))]),
  );
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const length of tokens) {
      const input = [sampleSequence(length, vocabulary)];
      for (const [name, session] of sessions) {
        const start = performance.now();
        await session.run(input);
        const ms = performance.now() - start;
        if (round > 0) samples.get(name)?.get(length)?.push(ms);
      }
    }
    onRound(round);
  }
  const points = (times: Map<number, number[]>) =>
    [...times].map(([length, ms]) => ({ tokens: length, ms: median(ms) }));
  return new Map([...samples].map(([name, times]) => [name, points(times)]));
}

/** Ids spread over the vocabulary: what they mean does not matter to the time, that they differ does to caches. */
const sampleSequence = (length: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => (i * 7919 + length) % vocabulary);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
