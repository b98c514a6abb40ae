import type { Model } from "../runtime/model.ts";
import { CALL_MS, longestWithin, type Plan, planOf } from "./plan.ts";
import type { Turns } from "./queue/turns.ts";

/** Texts that are computed to measure the speed again, at most. */
const MAX_TEXTS = 8;

/** A prediction that exceeds the measured time by no more than this factor is right, and certain with this relative deviation. */
const [RIGHT, CERTAIN] = [1.125, 1 / 8];

/** Shortest and longest time in ms without a computation, after which the speed is measured again. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 16_000];

/** Part of a request's CPU time that own texts may use. Loading the model needs the rest. */
const CPU_SHARE = 1 / 2;

/** Shortest own text in ms, on the machine that measured the model. */
const SHORTEST_MS = 0.5;

/** Time in ms after which own texts count as vanished: a platform can end the request in whose context they are computed. */
const VANISHED_MS = 5_000;

type Computing = Pick<Model, "batches" | "parallel" | "measurements" | "target" | "manifest" | "run">;

export interface OwnTexts {
  /**
   * Computes texts until the engine is warm.
   *
   * @param spentMs CPU time that the request has used, in whose context this happens
   */
  warm(model: Computing, spentMs: number): Promise<void>;
  /**
   * Computes a few texts if nothing was computed here for some time. A deployment that believes to be slow is not asked, and so
   * does not learn that it is fast again. Each time, the pause doubles until a request is computed here.
   */
  measureAgain(model: Computing): Promise<void>;
}

export interface OwnTextsOptions {
  readonly lane: Turns;
  /** CPU time that the platform allows per request, in ms. */
  readonly cpuLimitMs: number;
  readonly now: () => number;
}

/** Makes the part of the service that computes texts of its own, when no request waits, to know how fast it is. */
export function ownTexts({ lane, cpuLimitMs, now }: OwnTextsOptions): OwnTexts {
  let busyUntil = Number.NEGATIVE_INFINITY;
  let pauseMs = SHORTEST_PAUSE_MS;
  /** End of the last own text. */
  let endedAt = Number.NEGATIVE_INFINITY;

  /** Computes own texts, one after another, while `goesOn` and while there is CPU time and no request. */
  async function compute(model: Computing, spentMs: number, goesOn: (tookMs: number, plan: Plan) => boolean) {
    if (now() < busyUntil) return;
    busyUntil = now() + VANISHED_MS;
    try {
      let leftMs = CPU_SHARE * cpuLimitMs - spentMs;
      for (;;) {
        const textMs = Math.min(CALL_MS, (leftMs * CALL_MS) / lane.speed.predict(CALL_MS, 1).ms);
        const tokens = longestWithin(model, textMs);
        if (textMs < SHORTEST_MS || tokens === 0 || !lane.isIdle()) return;
        const sequences = [new Int32Array(tokens)];
        const plan = planOf(model, sequences, lane.speed);
        leftMs -= plan.compute.ms;
        const start = now();
        await lane.using({ ...plan, dueAt: undefined }, {}, ({ turn }) =>
          turn(plan.measuredMs, () => model.run(sequences, now)),
        );
        endedAt = now();
        if (!goesOn(endedAt - start, plan)) return;
      }
    } finally {
      busyUntil = Number.NEGATIVE_INFINITY;
    }
  }

  return {
    async warm(model, spentMs) {
      if (!lane.speed.isWarm()) await compute(model, spentMs, () => !lane.speed.isWarm());
    },
    async measureAgain(model) {
      if (lane.speed.isBlind() || !lane.isIdle()) return;
      if (lane.usedAt() > endedAt) pauseMs = SHORTEST_PAUSE_MS;
      if (now() - lane.usedAt() < pauseMs) return;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      let texts = 0;
      await compute(model, 0, (tookMs, { compute: { ms, spreadMs } }) => {
        const isKnown = ms <= RIGHT * tookMs && spreadMs <= CERTAIN * ms;
        return ++texts < MAX_TEXTS && !isKnown;
      });
    },
  };
}
