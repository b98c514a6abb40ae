import { sumOf } from "./isolate-memory.ts";
import type { Verdict } from "./judge.ts";
import type { Sample } from "./soak.ts";

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;

/** Memory that must level off. */
interface Level {
  readonly name: string;
  of(sample: Sample): number;
  /** MiB a minute that are not called growth. */
  readonly limit: number;
  /** Share of the samples at the beginning that do not count. */
  readonly warmUp: number;
}

/**
 * Heaps are measured after a garbage collection: caches fill and code is compiled in the first fifth of a run. Then they vary by 3 MiB with
 * the requests of the moment, so that the slope of a run of 10 minutes has an error of 0.25 MiB a minute: the limit is 4 times as much.
 * Resident memory also has what allocators keep. It varies by 50 MiB after each load, and in the first minutes it rises: half of a run
 * does not count, and the limit is 50 MiB in the other half.
 */
const levels: readonly Level[] = [
  { name: "the isolate", of: ({ isolate, models }) => sumOf(isolate) + models, limit: 1, warmUp: 0.2 },
  { name: "workerd", of: ({ workerd }) => workerd, limit: 10, warmUp: 0.5 },
  { name: "the region's heap", of: ({ regionHeap }) => regionHeap, limit: 1, warmUp: 0.2 },
  { name: "the region", of: ({ region }) => region, limit: 10, warmUp: 0.5 },
];

/** Says for each kind of memory whether it grows. */
export const growth = (samples: readonly Sample[]): Verdict[] =>
  levels.map(({ name, of, limit, warmUp }) => {
    const warm = samples.slice(Math.ceil(warmUp * samples.length));
    const slope = theilSenSlope(warm.map((sample) => [sample.atMs / MINUTE_MS, of(sample) / MIB]));
    return {
      what: `${name} does not grow`,
      measured: `${slope.toFixed(2)} MiB a minute, at most ${limit}`,
      holds: slope <= limit,
    };
  });

/**
 * Returns the slope of points: the median of the slopes between any two of them, which single samples, such as those while a model is
 * replaced, do not change (https://en.wikipedia.org/wiki/Theil–Sen_estimator). NaN without two points.
 */
function theilSenSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], i) =>
    points.slice(i + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return slopes.sort((a, b) => a - b)[slopes.length >> 1] ?? Number.NaN;
}
