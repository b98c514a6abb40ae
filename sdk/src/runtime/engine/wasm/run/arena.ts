import { aligned } from "./memory-map.ts";

/** Bytes of memory that are in use from step `first` to step `last`, inclusive. */
export interface Lifetime {
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Chooses an offset in memory for each lifetime. Lifetimes that are in use at the same time do not overlap. The largest
 * lifetime is placed first. Each lifetime gets the lowest offset where it fits.
 *
 * @returns the offset of each lifetime, and the bytes of memory that all lifetimes need together
 */
export function arrange(lifetimes: readonly Lifetime[]): { offsets: number[]; bytes: number } {
  const offsets: number[] = new Array(lifetimes.length).fill(0);
  const placed: { from: number; to: number; lifetime: Lifetime }[] = [];
  const order = lifetimes
    .map((lifetime, index) => ({ lifetime, index }))
    .sort((a, b) => b.lifetime.bytes - a.lifetime.bytes);
  for (const { lifetime, index } of order) {
    const others = placed
      .filter(({ lifetime: other }) => lifetime.first <= other.last && other.first <= lifetime.last)
      .sort((a, b) => a.from - b.from);
    let from = 0;
    for (const other of others) {
      if (from + lifetime.bytes <= other.from) break;
      from = Math.max(from, other.to);
    }
    const to = aligned(from + lifetime.bytes);
    offsets[index] = from;
    placed.push({ from, to, lifetime });
  }
  return { offsets, bytes: Math.max(0, ...placed.map(({ to }) => to)) };
}
