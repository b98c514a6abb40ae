import { type Decision, decide, type Situation } from "#sdk/serve/routing/decide.ts";
import { predictLatency } from "#sdk/serve/routing/predict-latency.ts";
import type { Clock } from "./clock.ts";
import { simulatedEngine, type Work } from "./engine.ts";
import type { Policy } from "./policies.ts";
import { MAX_WAIT_MS, type SimulatedRegion } from "./region.ts";
import { type RegionLink, regionLink } from "./region-link.ts";
import type { Request } from "./request.ts";
import type { Tally } from "./tally.ts";
import { type PointPlan, textMs, type World } from "./world.ts";

/** CPU time of a request that Workers allow by default, in ms. */
const CPU_LIMIT_MS = 30_000;

/** As in `embed-service.ts`: shortest time after its deadline that a request is still computed, in ms. */
const MIN_LATE_MS = 100;

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

/** An isolate of a point of presence: what `embed-service.ts` does, with one thread. */
export interface Isolate {
  inFlight: number;
  /** Position in the point's list of isolates with the same number of requests. */
  slot: number;
  receive(request: Request): void;
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
    gapMs: world.edgeGapMs,
    done(work) {
      if (!work.request.outcome) work.stopHedge?.();
      answer(work.request, "edge");
      handleEvents();
    },
    gaveUp: ({ request }) => refuse(request),
  });
  /** Links to the regions, the nearest first. */
  const links: (RegionLink | undefined)[] = [];
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
    for (const request of requests) handle(request, request.at);
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

  function linkTo(rank: number): RegionLink {
    const index = plan.nearest[rank] as number;
    links[rank] ??= regionLink({
      clock,
      region: regions[index] as SimulatedRegion,
      roundTripMs: plan.roundTripMs[index] as number,
      whenFree,
      arrivedAfter,
    });
    return links[rank];
  }

  /** Returns the nearest region that is expected to answer in time, else the one that is expected to answer first. */
  function chooseRegion(computeMs: number, remainingMs: number): { link: RegionLink; region: Situation["region"] } {
    let link = linkTo(0);
    link.keepMeasured();
    let region = link.predict(computeMs);
    for (let rank = 1; rank < regions.length; rank++) {
      if (region !== "down" && region.ms <= remainingMs) break;
      const other = linkTo(rank);
      other.keepMeasured();
      const predicted = other.predict(computeMs);
      if (predicted === "down" || (region !== "down" && region.ms <= predicted.ms)) continue;
      link = other;
      region = predicted;
    }
    return { link, region };
  }

  function handle(request: Request, startedAt = arrivedAfter(now())): void {
    const regionMs = predictLatency(world.model.regionalCpu, [request.tokens]);
    const remainingMs = request.budgetMs - (now() - startedAt);
    const { link, region } = chooseRegion(regionMs, remainingMs);
    if (waiting) {
      const decision = policy({ remainingMs, maxWaitMs: MAX_WAIT_MS, pin: undefined, here: "loading", region });
      if ("tier" in decision && decision.tier === "region") askRegion(request, link, remainingMs, regionMs, startedAt);
      else waiting.push(request);
      return;
    }
    const work = workOf(request, remainingMs);
    const decision = policy(situationOf(work, remainingMs, region));
    if ("refusal" in decision) refuse(request);
    else if (decision.tier === "region") askRegion(request, link, remainingMs, regionMs, startedAt);
    else if (decision.hedge) hedge(work, link, remainingMs, regionMs);
    else engine.add(work);
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
      giveUpAt: dueAt === undefined ? undefined : dueAt + Math.max(MIN_LATE_MS, request.budgetMs),
      request,
      stopHedge: undefined,
    };
  }

  function situationOf(work: RequestWork, remainingMs: number, region: Situation["region"]): Situation {
    return {
      remainingMs,
      maxWaitMs: MAX_WAIT_MS,
      pin: undefined,
      here: {
        waitMs: engine.queue.waitMs(work),
        compute: engine.speed.predict(work.measuredMs, 1),
        delaysOthers: engine.queue.delaysOthers(work, now()),
        cpuLimitMs: CPU_LIMIT_MS,
      },
      region,
    };
  }

  function askRegion(
    request: Request,
    link: RegionLink,
    remainingMs: number,
    regionMs: number,
    startedAt: number,
  ): void {
    link.send(request, remainingMs, regionMs, (result) => {
      if (result === "answered") {
        answer(request, "region");
        return;
      }
      if (waiting) {
        waiting.push(request);
        return;
      }
      const leftMs = request.budgetMs - (now() - startedAt);
      const work = workOf(request, leftMs);
      const decision: Decision = decide(situationOf(work, leftMs, "down"));
      if ("refusal" in decision) refuse(request);
      else engine.add(work);
    });
  }

  function hedge(work: RequestWork, link: RegionLink, remainingMs: number, regionMs: number): void {
    const { request } = work;
    tally.hedged(request);
    work.stopHedge = link.send(request, remainingMs, regionMs, (result) => {
      if (result === "discarded") tally.discarded(request);
      if (result !== "answered" || request.outcome) return;
      engine.cancel(work);
      answer(request, "region");
    });
    engine.add(work, world.edgeGapMs);
  }

  function answer(request: Request, tier: "edge" | "region"): void {
    if (request.outcome) tally.discarded(request);
    else end(request, tier);
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
