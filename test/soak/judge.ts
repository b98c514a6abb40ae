import { ATTACKS } from "./attacks.ts";
import { growth } from "./growth.ts";
import { ISOLATE_LIMIT, sumOf } from "./isolate-memory.ts";
import type { Sample, Soaked } from "./soak.ts";
import type { Seen } from "./traffic.ts";

/** A condition that a run must meet. */
export interface Verdict {
  readonly what: string;
  readonly measured: string;
  readonly holds: boolean;
}

/** The edge looks for a new version every minute, and loads it in the background. */
export const LIVE_MS = 90_000;
/** Least share of the requests of a kind that are not refused under load, and requests of a kind that say something about it. */
const MIN_SHARE = 0.5;
const MIN_REQUESTS = 10;
/**
 * Requests of the first kind have less time than a busy machine needs. In a short run, a new version appears each second, and the region
 * refuses pinned requests until both tiers have it. Some must get an answer all the same.
 */
const IMPATIENT = "with a budget";
const PINNED = "pinned to the region";
const MIN_IMPATIENT_SHARE = 0.02;

/** Largest share of the steady caller's requests that are not answered. A short run has few, and one of them may not be. */
const MAX_STEADY_LOST = 0.05;

export const isolateBytes = (sample: Sample): number => sumOf(sample.isolate) + sample.models;
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** In less time, the warm-up is a large part. */
export const MIN_MINUTES = 4;

/** Judges a run. `minutes` of traffic are enough to say whether memory grows. */
export function judge(soaked: Soaked, minutes: number): Verdict[] {
  const { samples, seen, steady, attacked, crashed } = soaked;
  const wrong = seen.wrong.length + steady.wrong.length + attacked.wrong.length;
  const isolate = Math.max(...samples.map(isolateBytes));
  const peak = Math.max(...samples.map((sample) => sample.peak + sample.models));
  const below = (bytes: number) => bytes > 0 && bytes < ISOLATE_LIMIT;
  return [
    { what: "no wrong answer", measured: `${wrong}`, holds: wrong === 0 },
    { what: "no process has ended", measured: crashed.join(", ") || "none", holds: crashed.length === 0 },
    answered(seen, minutes < MIN_MINUTES ? [IMPATIENT, PINNED] : [IMPATIENT]),
    answeredSteadily(soaked),
    { what: "both tiers answer", measured: [...seen.tiers.keys()].join(", "), holds: seen.tiers.size === 2 },
    { what: "the isolate stays below 128 MiB", measured: megabytes(isolate), holds: below(isolate) },
    { what: "also with garbage", measured: megabytes(peak), holds: below(peak) },
    ...(soaked.liveAfterMs ? [served(soaked.liveAfterMs)] : []),
    ...(minutes < MIN_MINUTES ? [] : [allRead(soaked), allAttacked(soaked), ...growth(samples)]),
  ];
}

/** Every kind of request to every model gets its answer, and not only refusals under load. In a short run, few kinds have enough requests. */
function answered({ counts }: Seen, oftenRefused: readonly string[]): Verdict {
  const kinds = [...counts].map(([name, outcomes]) => {
    const of = (outcome: string) => outcomes.get(outcome) ?? 0;
    const right = of("answered") + of("refused");
    return { name, right, all: right + of("busy") };
  });
  const sum = (of: "right" | "all") => kinds.reduce((total, kind) => total + kind[of], 0);
  const shares = [{ name: "all requests", right: sum("right"), all: sum("all") }, ...kinds]
    .filter(({ all }) => all >= MIN_REQUESTS)
    .map(({ name, right, all }) => ({ name, share: right / all }));
  const enough = ({ name, share }: (typeof shares)[number]) =>
    share >= (oftenRefused.some((kind) => name.startsWith(kind)) ? MIN_IMPATIENT_SHARE : MIN_SHARE);
  const worst = shares.toSorted((a, b) => Number(enough(a)) - Number(enough(b)) || a.share - b.share)[0];
  return {
    what: "each kind of request is answered",
    measured: worst ? `${Math.round(100 * worst.share)} % of “${worst.name}”` : "no requests",
    holds: worst !== undefined && enough(worst),
  };
}

/** A caller gets its answers, whatever another one does. */
function answeredSteadily({ steady }: Soaked): Verdict {
  const all = Object.values(steady.counts).reduce((sum, count) => sum + count, 0);
  const right = steady.counts["200"] ?? 0;
  const others = Object.entries(steady.counts).filter(([name]) => name !== "200");
  const measured = [
    `${Math.round((100 * right) / all)} % of ${all}`,
    ...others.map(([name, count]) => `${count} × ${name}`),
  ];
  return {
    what: "a steady caller is answered beside attacks with another key",
    measured: measured.join(", "),
    holds: right > 0 && all - right <= Math.max(1, MAX_STEADY_LOST * all),
  };
}

function served(liveAfterMs: NonNullable<Soaked["liveAfterMs"]>): Verdict {
  const live = liveAfterMs.filter((ms) => ms !== undefined);
  return {
    what: "each new version is served",
    measured: `${live.length} of ${liveAfterMs.length}, the slowest after ${Math.round(Math.max(0, ...live) / 1000)} s`,
    holds: live.length > 0 && live.length === liveAfterMs.length && live.every((ms) => ms < LIVE_MS),
  };
}

function allAttacked({ attacked }: Soaked): Verdict {
  const made = [...attacked.attacks.values()].reduce((sum, count) => sum + count, 0);
  return { what: "each attack is made on each tier", measured: `${made} of ${ATTACKS}`, holds: made >= ATTACKS };
}

const allRead = ({ heavy }: Soaked): Verdict => ({
  what: "each long text is read in each way",
  measured: `${heavy.sent} requests for ${heavy.ways} ways`,
  holds: heavy.sent >= heavy.ways,
});
