import { predictLatency } from "#sdk/serve/answering/plan.ts";

import type { AnswerEstimate } from "#sdk/serve/queue/speed.ts";
import { sharedThread } from "#sdk/serve/queue/thread.ts";
import { newRetryBudget } from "#sdk/serve/region/regions.ts";
import { type ArrivalTime, arrivalBetween, lostMs, maxLateMs } from "#sdk/serve/routing/deadline.ts";
import { decide, type Situation } from "#sdk/serve/routing/decide.ts";
import type { Clock } from "./clock.ts";
import { giveUpAt, simulatedEngine, type Work } from "./engine.ts";
import type { Policy } from "./policies.ts";
import { MAX_WAIT_MS, type SimulatedRegion } from "./region.ts";
import { type RegionLink, regionLink } from "./region-link.ts";
import type { Request } from "./request.ts";
import type { Tally } from "./tally.ts";
import { type PointPlan, textMs, type World } from "./world.ts";

/** CPU time of a request that Workers allow by default, in ms. */
const CPU_LIMIT_MS = 30_000;

export interface IsolateOptions {
  clock: Clock;
  world: World;
  plan: PointPlan;
  regions: readonly SimulatedRegion[];
  policy: Policy;
  tally: Tally;
  /** Called whenever a request leaves this isolate. */
  left: (isolate: Isolate) => void;
}

/** An isolate of a point of presence: what `task-service.ts` does, with one thread. */
export interface Isolate {
  inFlight: number;
  /** Position in the point's list of isolates with the same number of requests. */
  slot: number;
  receive(request: Request): void;
}

/** A region that may be asked, and when it is expected to answer. */
interface Usable {
  readonly link: RegionLink;
  readonly predicted: AnswerEstimate;
}

/** A request on its way to a decision. */
interface Asked {
  readonly request: Request;
  /** Its budget starts then. */
  readonly arrival: ArrivalTime;
  /** Predicted milliseconds of the computation in a region. */
  readonly regionMs: number;
}

interface RequestWork extends Work {
  readonly request: Request;
  /** Stops the hedge of this work. */
  stopHedge: (() => void) | undefined;
}

/** Starts an isolate, which loads its model first. */
export function startIsolate({ clock, world, plan, regions, policy, tally, left }: IsolateOptions): Isolate {
  const { now } = clock;
  const engine = simulatedEngine<RequestWork>({
    clock,
    compilesAsItRuns: true,
    gapMs: world.edgeGapMs,
    done(work) {
      if (!work.request.outcome) work.stopHedge?.();
      answer(work.request, "edge");
      handleEvents();
    },
    gaveUp: ({ request }) => refuse(request),
  });
  const links = regions.map((region, index) =>
    regionLink({
      ...{ clock, region, whenFree },
      roundTripMs: plan.roundTripMs[index] as number,
      busyMs: engine.busyMs,
    }),
  );
  const retryBudget = newRetryBudget();
  /** Times at which the region's answers are due. */
  const fetches = sharedThread(now);
  /** Events that wait for the thread. */
  let events: (() => void)[] = [];
  let isHandlingOld = false;
  /** Requests that wait for the model; undefined when it is loaded. */
  let waiting: Request[] | undefined = [];

  const isolate: Isolate = {
    inFlight: 0,
    slot: 0,
    receive(request) {
      if (engine.isComputing()) events.push(() => handle(request));
      else handle(request);
    },
  };
  clock.after(world.model.coldStartMs * plan.slowness, () => {
    const requests = waiting ?? [];
    waiting = undefined;
    for (const request of requests) handle(request, { at: request.at, errorMs: 0, busyMs: 0 });
  });
  return isolate;

  function whenFree(run: () => void): void {
    if (engine.isComputing()) events.push(run);
    else run();
  }

  function arrivedAfter(now: number): number {
    return isHandlingOld ? engine.startedAt() : now;
  }

  /** Handles what has happened during a turn. */
  function handleEvents(): void {
    if (events.length === 0) return;
    const old = events;
    events = [];
    isHandlingOld = true;
    for (const run of old) run();
    isHandlingOld = false;
  }

  /** Returns the usable regions, the one that is expected to answer first in front, as `regions.ts` does. */
  function usableRegions(computeMs: number): Usable[] {
    const usable: Usable[] = [];
    for (const link of links) {
      const predicted = link.predict(computeMs);
      if (predicted !== "down") usable.push({ link, predicted });
    }
    return usable.length < 2 ? usable : usable.sort((a, b) => a.predicted.ms - b.predicted.ms);
  }

  function handle(request: Request, arrival = arrivalBetween(arrivedAfter(now()), now(), engine.busyMs())): void {
    for (const link of links) link.keepMeasured();
    const regionMs = predictLatency(world.model.regionalCpu, [request.tokens]);
    const asked = { request, arrival, regionMs };
    const remainingMs = remainingOf(asked);
    const region = usableRegions(regionMs)[0];
    const predicted = region?.predicted ?? "down";
    if (waiting) {
      const situation = {
        remainingMs,
        elapsedErrorMs: arrival.errorMs,
        lostMs: lostMs(arrival, engine.busyMs()),
        maxLateMs: maxLateMs(request.budgetMs),
        maxWaitMs: MAX_WAIT_MS,
        pin: undefined,
        here: "loading",
        region: predicted,
      } as const;
      const decision = policy(situation);
      if (region && "tier" in decision && decision.tier === "region") askRegion(asked, region.link);
      else waiting.push(request);
      return;
    }
    const work = workOf(request, remainingMs);
    const decision = policy(situationOf(work, asked, predicted));
    if ("refusal" in decision) refuse(request);
    else if (region && decision.tier === "region") askRegion(asked, region.link);
    else if (region && decision.hedge && retryBudget.take()) hedge(work, asked, region.link);
    else engine.add(work);
  }

  function remainingOf({ request, arrival }: Asked): number {
    return request.budgetMs - (now() - arrival.at);
  }

  function workOf(request: Request, remainingMs: number): RequestWork {
    const measuredMs = predictLatency(world.model.edge, [request.tokens]);
    const { ms } = engine.speed.predict(measuredMs, 1);
    const dueAt = ms <= remainingMs ? now() + remainingMs : undefined;
    return {
      dueAt,
      leftMs: ms,
      measuredMs,
      tookMs: textMs(world.model.edge, request.tokens, plan.slowness, request.edgeNoise),
      giveUpAt: giveUpAt(dueAt, request.budgetMs),
      request,
      stopHedge: undefined,
    };
  }

  function situationOf(work: RequestWork, asked: Asked, region: Situation["region"]): Situation {
    const waitMs = engine.queue.waitMs(work);
    const compute = engine.speed.predict(work.measuredMs, 1);
    const engineMs = engine.speed.predict(work.measuredMs, 0).ms;
    const startAt = now() + waitMs;
    return {
      remainingMs: remainingOf(asked),
      elapsedErrorMs: asked.arrival.errorMs,
      lostMs: lostMs(asked.arrival, engine.busyMs()),
      maxLateMs: maxLateMs(work.request.budgetMs),
      maxWaitMs: MAX_WAIT_MS,
      pin: undefined,
      here: {
        waitMs,
        compute,
        delaysOthers: engine.queue.delaysOthers(work, now()),
        delaysFetches: fetches.awaitsBetween(startAt, startAt + engineMs),
        engineMs: Math.min(engineMs, work.measuredMs),
        calls: 1,
        cpuMs: work.measuredMs,
        cpuLimitMs: CPU_LIMIT_MS,
      },
      region,
    };
  }

  /** Asks a region, then a second one if the first one fails, as `regions.ts` does. Then the isolate decides alone. */
  function askRegion(asked: Asked, link: RegionLink, isSecond = false): void {
    const { request, regionMs } = asked;
    const handled = fetches.startFetch(now() + remainingOf(asked));
    link.send(request, remainingOf(asked), regionMs, (result) => {
      handled();
      if (result === "answered") {
        answer(request, "region");
        return;
      }
      const leftMs = remainingOf(asked);
      const other = isSecond ? undefined : usableRegions(regionMs).find((usable) => usable.link !== link);
      if (other && other.predicted.ms <= leftMs && retryBudget.take()) {
        tally.extra(request);
        askRegion(asked, other.link, true);
        return;
      }
      if (waiting) {
        waiting.push(request);
        return;
      }
      const work = workOf(request, leftMs);
      if ("refusal" in decide(situationOf(work, asked, "down"))) refuse(request);
      else engine.add(work);
    });
  }

  function hedge(work: RequestWork, asked: Asked, link: RegionLink): void {
    const { request, regionMs } = asked;
    tally.extra(request);
    work.stopHedge = link.send(request, remainingOf(asked), regionMs, (result) => {
      if (result === "discarded") tally.discarded(request);
      if (result !== "answered" || request.outcome) return;
      engine.cancel(work);
      answer(request, "region");
    });
    engine.add(work, world.edgeGapMs);
  }

  function answer(request: Request, tier: "edge" | "region"): void {
    if (request.outcome) tally.discarded(request);
    else {
      retryBudget.answered();
      end(request, tier);
    }
  }

  function refuse(request: Request): void {
    if (!request.outcome) end(request, undefined);
  }

  function end(request: Request, tier: "edge" | "region" | undefined): void {
    request.outcome = { tier, at: now() };
    tally.ended(request);
    left(isolate);
  }
}
