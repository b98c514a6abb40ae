import { ISOLATE_LIMIT, sumOf } from "./isolate-memory.ts";
import type { Sample, Soaked } from "./soak.ts";

/** A condition that a run must meet. */
export interface Verdict {
  readonly what: string;
  readonly measured: string;
  readonly holds: boolean;
}

const MIB = 1024 * 1024;
/** The edge looks for a new version every minute, and loads it in the background. */
const LIVE_MS = 90_000;
/** Share of the samples at the beginning that do not count: caches fill, code is compiled. */
const WARM_UP = 0.2;

export const isolateBytes = (sample: Sample): number => sumOf(sample.isolate) + sample.models;
const megabytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

/** Judges a run. `minutes` of traffic are enough to say whether memory grows. */
export function judge({ samples, seen, liveAfterMs }: Soaked, minutes: number): Verdict[] {
  const isolate = Math.max(...samples.map(isolateBytes));
  const peak = Math.max(...samples.map((sample) => sample.peak + sample.models));
  const growth = (name: string, of: (sample: Sample) => number, slackBytes: number): Verdict => {
    const warm = samples.slice(Math.ceil(WARM_UP * samples.length)).map(of);
    const third = Math.floor(warm.length / 3);
    const [first, last] = [median(warm.slice(0, third)), median(warm.slice(-third))];
    return {
      what: `${name} does not grow`,
      measured: `${megabytes(first)} → ${megabytes(last)}`,
      holds: last <= first + slackBytes,
    };
  };
  const live = liveAfterMs.filter((ms) => ms !== undefined);
  // The last publication may be too recent.
  const missing = liveAfterMs.slice(0, -1).filter((ms) => ms === undefined).length;
  return [
    { what: "no wrong answer", measured: `${seen.wrong.length}`, holds: seen.wrong.length === 0 },
    { what: "the isolate stays below 128 MiB", measured: megabytes(isolate), holds: isolate < ISOLATE_LIMIT },
    { what: "also with garbage", measured: megabytes(peak), holds: peak < ISOLATE_LIMIT },
    {
      what: "each new version is served",
      measured: `${live.length} of ${liveAfterMs.length}, the slowest after ${Math.round(Math.max(0, ...live) / 1000)} s`,
      holds: missing === 0 && live.every((ms) => ms < LIVE_MS),
    },
    ...(minutes < MIN_MINUTES
      ? []
      : [
          growth("the isolate", isolateBytes, 4 * MIB),
          // The process of a Worker that only reads these bodies levels off 160 MiB above its start.
          growth("workerd", ({ workerd }) => workerd, 64 * MIB),
          growth("the region's heap", ({ regionHeap }) => regionHeap, 4 * MIB),
          // onnxruntime's memory levels off 100 MiB higher after a dozen loads of a model of 20 MB.
          growth("the region", ({ region }) => region, 128 * MIB),
        ]),
  ];
}

/** In less time, the warm-up is a large part. */
const MIN_MINUTES = 4;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
