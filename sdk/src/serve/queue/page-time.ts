import { MAX_PAGE_READS } from "../../runtime/engine/engine.ts";
import { ewma, exactly } from "../ewma.ts";

/** Assumed milliseconds of a read from a store, before the first one: those of a bucket in the same region. */
const PRIOR_MS = 30;

/** Predicts how long it takes to read rows of a token embedding table from the store. */
export interface PageTime {
  /** @param reads number of ranges to read, of which `MAX_PAGE_READS` are read at the same time */
  predict(reads: number): number;
  /** Learns from reads that took `ms` together. */
  observe(reads: number, ms: number): void;
}

export function pageTime(now: () => number): PageTime {
  const wave = ewma({ prior: PRIOR_MS, now });
  const wavesOf = (reads: number) => Math.ceil(reads / MAX_PAGE_READS);
  return {
    predict: (reads) => wavesOf(reads) * wave.mean,
    observe: (reads, ms) => wave.observe(exactly(ms / wavesOf(reads))),
  };
}
