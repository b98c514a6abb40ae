import type { Reason } from "../contract/headers.ts";
import type { AnswerEstimate, Estimate } from "../queue/speed.ts";
import type { RefusalCode } from "../refusal.ts";

/** Number of mean deviations by which a predicted time must be below the budget to count as certainly in time. */
export const CERTAIN = 3;

/**
 * Factor by which the region must be faster to answer a request that this deployment could answer too. An answer of this
 * deployment has no extra cost, so the region is asked only to shorten a queue here.
 */
const CLEARLY_FASTER = 1.2;

/**
 * Longest computation, in ms, that is not worth asking the region: twice the CPU time that asking takes, measured in workerd. In a
 * flood of short texts, asking would keep the thread just as busy, and requests would wait for more turns of the event loop.
 */
const WORTH_ASKING_MS = 1.2;

/** Shortest time after which a refused request should come again, in ms. With a shorter one, clients use up their retry budgets. */
const MIN_RETRY_MS = 50;

/** Queue, computation and CPU limit of this deployment. Times are in milliseconds. */
export interface Here {
  /** Predicted time in the queue, before the last part of the work begins. */
  readonly waitMs: number;
  /** Whether no other request of the same caller waits. Default false. */
  readonly isNext?: boolean;
  /** Pages of the vocabulary that must be read first; undefined if there are none. */
  readonly pages?: PageReads | undefined;
  /** Predicted time of the computation, without the wait. */
  readonly compute: Estimate;
  /** Whether another request would become late if this one were computed here. */
  readonly delaysOthers: boolean;
  /** Whether computing the request here would delay the handling of a region's answer beyond its deadline. */
  readonly delaysFetches: boolean;
  /**
   * Time of the engine alone, without other work between its calls, on this machine or on the machine that measured the model,
   * whichever is faster. A machine that is slow at the moment is also slow in asking the region.
   */
  readonly engineMs: number;
  /** Calls of the engine. Between calls, the deployment can stop the computation. */
  readonly calls: number;
  /** CPU time on the machine that measured the model. On this machine, only the wall-clock time is known, including other processes. */
  readonly cpuMs: number;
  /** CPU time that the platform allows per request. */
  readonly cpuLimitMs: number;
}

/** Reads of pages of the vocabulary from the store. */
export interface PageReads {
  readonly reads: number;
  /** Maximum number of reads of a request. */
  readonly maxReads: number;
  /** Predicted time of all. */
  readonly ms: number;
}

/** Input of a decision. */
export interface Situation {
  /** Remaining budget of the caller in milliseconds; undefined without a budget. */
  readonly remainingMs: number | undefined;
  /** Largest error of the remaining budget: the time of arrival may be known only roughly. */
  readonly elapsedErrorMs: number;
  /** Maximum time that computations of other requests have taken from the budget. */
  readonly lostMs: number;
  /** Time by which an answer may be late and still be of use. */
  readonly maxLateMs: number;
  /** Longest predicted wait of a request without a budget. */
  readonly maxWaitMs: number;
  /** The only tier that may answer: `here` is this deployment. Undefined if the caller accepts both. */
  readonly pin: "here" | "region" | undefined;
  /** `loading`: the model is not loaded yet. `unsuitable`: this deployment cannot give the precision that is asked for. */
  readonly here: Here | "loading" | "unsuitable";
  /** `down`: the region failed a short time ago. */
  readonly region: AnswerEstimate | "none" | "down";
}

export type Decision =
  | {
      readonly tier: "here" | "region";
      readonly reason: Reason;
      /** Predicted milliseconds until the answer; undefined while the model is loading. */
      readonly predictedMs: number | undefined;
      /** Whether the region is asked too, and the first answer counts. */
      readonly hedge: boolean;
    }
  | { readonly refusal: RefusalCode /** When a retry makes sense, in ms from now. */; readonly retryAfterMs?: number };

/** Whether asking the region would save this deployment no work. */
export const isShort = ({ engineMs }: Here): boolean => engineMs <= WORTH_ASKING_MS;

/** Stands for a model that is not loaded. */
const LOADING: Here = {
  ...{ waitMs: 0, compute: { ms: 0, spreadMs: 0 }, delaysOthers: false, delaysFetches: false },
  ...{ engineMs: 0, calls: 0, cpuMs: 0, cpuLimitMs: Number.POSITIVE_INFINITY },
};

/** Stands for a region that cannot be asked. */
const NEVER: AnswerEstimate = { ms: Number.POSITIVE_INFINITY, spreadMs: 0, waitMs: 0 };

type Facts = ReturnType<typeof factsOf>;

/** Adds to a situation the figures and flags that the rules compare. Times are in milliseconds. */
function factsOf(situation: Situation) {
  const { remainingMs = Number.POSITIVE_INFINITY, elapsedErrorMs, lostMs, pin, here, region } = situation;
  const usable = typeof region === "object" && pin !== "here" ? region : undefined;
  const { ms, spreadMs: regionSpreadMs, waitMs: regionWaitMs } = usable ?? NEVER;
  const own = typeof here === "object" ? here : LOADING;
  const { waitMs, pages, compute } = own;
  /** Time without other requests. */
  const aloneMs = (pages?.ms ?? 0) + compute.ms;
  const ownMs = waitMs + aloneMs;
  // The queue is computed by the same machine, so a prediction of the wait is as uncertain as one of the computation.
  const spreadMs = compute.ms > 0 ? compute.spreadMs * (ownMs / compute.ms) : 0;
  const knownMs = remainingMs - elapsedErrorMs;
  const quietMs = remainingMs + lostMs;
  const overMs = ownMs + CERTAIN * spreadMs - knownMs;
  const makesLate = own.delaysOthers || own.delaysFetches;
  // A region without a queue is asked although it is uncertain: the deviation of its estimate shrinks only with its answers.
  const regionMayBeInTime = ms + (regionWaitMs > 0 ? regionSpreadMs : 0) <= remainingMs;
  return {
    ...situation,
    /** The region, if it may be asked. */
    usable,
    /** This deployment. Its figures count only after the rules for a model that is loading or unsuitable. */
    own,
    /** Predicted time until the answer of this deployment. */
    ownMs,
    /** Time that this deployment certainly needs beyond the budget; negative if it is certainly in time. */
    overMs,
    /** Whether this deployment has a queue, and the region is clearly faster. */
    isBusy: waitMs > 0 && !isShort(own) && ownMs > CLEARLY_FASTER * ms,
    /** Whether this deployment is certainly in time, or may be, and makes nothing else late. */
    isCertain: overMs <= 0 && !makesLate,
    mayBeInTime: ownMs <= remainingMs && !makesLate,
    regionIsCertain: ms + CERTAIN * regionSpreadMs <= knownMs,
    regionMayBeInTime,
    regionIsLikelier: regionMayBeInTime && (knownMs - ms) * spreadMs > (knownMs - ownMs) * regionSpreadMs,
    regionIsFaster: ms < ownMs,
    /** Whether the request would spend more than half of the region's time in the region's queue. */
    regionWaits: 2 * regionWaitMs > ms,
    /** Whether nobody could answer in time, even without other requests. */
    allAreLate: aloneMs > quietMs && ms - regionWaitMs > quietMs,
  };
}

/** Returns the reason of an answer of this deployment: `pinned` or `only-tier` if no other tier may answer, otherwise `reason`. */
const alone = ({ pin, region }: Facts, reason: Reason): Reason =>
  pin ? "pinned" : region === "none" ? "only-tier" : reason;

const isDown = ({ region, pin }: Facts): boolean => region === "down" && !pin;

const answer = ({ ownMs }: Facts, reason: Reason): Extract<Decision, { tier: unknown }> => ({
  ...{ tier: "here", reason, predictedMs: ownMs, hedge: false },
});

const ask = ({ usable }: Facts, reason: Reason): Decision | undefined =>
  usable && { tier: "region", reason, predictedMs: usable.ms, hedge: false };

const overloaded = (ms: number): Decision => ({ refusal: "overloaded", retryAfterMs: Math.max(ms, MIN_RETRY_MS) });

/**
 * The rules, in order: the first one that decides counts. The line above each is its row in docs/routing.md
 * (`npx vitest run test/docs/routing-page.test.ts --update`). A rule that needs the region leaves the decision to the next one if
 * the region cannot be asked.
 */
const rules: readonly ((facts: Facts) => Decision | false | undefined)[] = [
  // the request is late by its whole budget, and by at least 100 ms | refused: `budget_exceeded`
  (f) => f.remainingMs !== undefined && f.remainingMs <= -f.maxLateMs && { refusal: "budget_exceeded" },
  // the request is pinned to the region | region, else refused: `tier_unavailable`, or without a region `tier_missing`
  (f) =>
    f.pin === "region" && (ask(f, "pinned") ?? { refusal: f.region === "none" ? "tier_missing" : "tier_unavailable" }),
  // the edge's model has a lower precision than the request accepts | region, else refused: `precision_unavailable`; while it is down, `tier_unavailable`
  (f) =>
    f.here === "unsuitable" &&
    (ask(f, "precision") ?? { refusal: isDown(f) ? "tier_unavailable" : "precision_unavailable" }),
  // the edge is loading its model | region, else the edge when it has loaded
  (f) =>
    f.here === "loading" && (ask(f, "edge-cold") ?? { ...answer(f, alone(f, "region-down")), predictedMs: undefined }),
  // the computation takes more CPU time than `cpuLimitMs` | region. Without one, refused: `request_too_costly`; while it is down, `overloaded`
  (f) =>
    f.own.cpuMs > f.own.cpuLimitMs &&
    (ask(f, "edge-cpu-limit") ?? (isDown(f) ? overloaded(0) : { refusal: "request_too_costly" })),
  // the texts need more than `limits.maxPageReads` reads of pages of the edge's vocabulary | region. Without one, refused: `too_many_page_reads`; while it is down, `overloaded`
  (f) =>
    f.own.pages &&
    f.own.pages.reads > f.own.pages.maxReads &&
    (ask(f, "edge-pages") ?? (isDown(f) ? overloaded(0) : { refusal: "too_many_page_reads" })),
  // there is no budget, the edge has a queue, the computation takes more than 1.2 ms, and the region is at least 1.2 times as fast | region
  (f) => f.remainingMs === undefined && f.isBusy && ask(f, "edge-busy"),
  // there is no budget, and the queue is longer than `limits.maxWaitMs` | region, else refused: `overloaded`
  (f) =>
    f.remainingMs === undefined &&
    f.own.waitMs > f.maxWaitMs &&
    (ask(f, "edge-busy") ?? overloaded(f.own.waitMs - f.maxWaitMs)),
  // there is no budget | edge
  (f) => f.remainingMs === undefined && answer(f, alone(f, "no-budget")),
  // the edge is certain to be in time and makes nobody late; but it has a queue, the computation takes more than 1.2 ms, and the region is certain too and at least 1.2 times as fast | region
  (f) => f.isCertain && f.isBusy && f.regionIsCertain && ask(f, "edge-busy"),
  // the edge is certain to be in time, and makes nobody else late | edge
  (f) => f.isCertain && answer(f, alone(f, "within-budget")),
  // the region is certain to be in time, and the edge may be, if it can still stop | both
  (f) =>
    f.regionIsCertain &&
    f.mayBeInTime &&
    // An answer of the region is of no use while one call occupies the thread: it would be handled after the call.
    (f.own.waitMs > 0 || f.own.calls > 1) && { ...answer(f, "within-budget"), hedge: true },
  // the region is certain to be in time | region
  (f) => f.regionIsCertain && ask(f, "edge-over-budget"),
  // the edge may be in time, has no queue or none of this caller, and the region is not likelier to be in time | edge
  (f) =>
    f.mayBeInTime &&
    (f.own.waitMs === 0 || f.own.isNext) &&
    !f.regionIsLikelier &&
    answer(f, alone(f, "within-budget")),
  // the region may be in time | region
  (f) => f.regionMayBeInTime && ask(f, "edge-over-budget"),
  // both would be late even without other requests, the region is faster, and `region-wait` is at most half of `region` | region
  (f) => f.allAreLate && f.regionIsFaster && !f.regionWaits && ask(f, "over-budget"),
  // both would be late even without other requests, the region is not faster, `wait` is at most `compute`, and there is no `answers-late` | edge
  (f) =>
    // A late answer is better than none, unless the request would wait longer for its turn than its computation takes, or would
    // make an answer of the region late for another request.
    f.allAreLate &&
    !f.regionIsFaster &&
    f.own.waitMs <= f.own.compute.ms &&
    !f.own.delaysFetches &&
    answer(f, alone(f, f.region === "down" ? "region-down" : "over-budget")),
];

/** Decides which tier answers a request, if any. A deployment that is in time usually answers itself, which needs no network. */
export function decide(situation: Situation): Decision {
  const facts = factsOf(situation);
  for (const rule of rules) {
    const decision = rule(facts);
    if (decision) return decision;
  }
  // nothing of this | refused: `overloaded`, with the time after which a retry makes sense
  return overloaded(Math.max(facts.overMs, facts.own.compute.ms));
}
