import { nextTurn } from "../../artifact/next-turn.ts";
import type { Model } from "../../runtime/model.ts";
import { CALL_MS } from "../queue/speed.ts";
import type { TierChooserOptions } from "./choose-tier.ts";
import { longestWithin, type Plan, planOf } from "./plan.ts";

/** Texts that are computed to measure the speed again, at most. */
const MAX_TEXTS = 8;

/** A prediction that exceeds the measured time by no more than this factor is right, and certain with this relative deviation. */
const [RIGHT, CERTAIN] = [1.125, 1 / 8];

/** Shortest and longest time in ms without a computation, after which the speed is measured again. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 16_000];

/** Part of a request's CPU time that it may have used when its own texts end. Loading the model needs the rest. */
const CPU_SHARE = 1 / 2;

/** Time in ms after which own texts count as vanished: a platform can end the request in whose context they are computed. */
const VANISHED_MS = 5_000;

type Computing = Pick<Model, "batches" | "parallel" | "measurements" | "target" | "manifest" | "run">;

interface OwnTextsOptions extends Pick<TierChooserOptions, "scheduler" | "cpuLimitMs" | "now"> {
  /** Whether a request is under way. */
  readonly isBusy: () => boolean;
}

/**
 * Makes a function that computes short texts of our own after a request, while there is CPU time and no other request: until the
 * engine is warm, and a few more if the request was lost to an estimate of which nothing was measured for some time. A deployment that
 * believes to be slow is not asked, and so does not learn that it is fast again. Each time, the pause doubles until a request is
 * computed here.
 */
export function ownTexts({ scheduler, cpuLimitMs, isBusy, now }: OwnTextsOptions) {
  let busyUntil = Number.NEGATIVE_INFINITY;
  let pauseMs = SHORTEST_PAUSE_MS;
  /** End of the last own text. */
  let endedAt = Number.NEGATIVE_INFINITY;

  /** Whether the speed has to be measured again now. */
  function isDue(): boolean {
    if (scheduler.speed.isBlind()) return false;
    if (scheduler.usedAt() > endedAt) pauseMs = SHORTEST_PAUSE_MS;
    if (now() - scheduler.usedAt() < pauseMs) return false;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    return true;
  }

  /** Computes a text that fits into a time. @returns its plan, and the time that it took; undefined if none fits, or if a request is here */
  async function computeWithin(ms: number, model: Computing): Promise<{ plan: Plan; tookMs: number } | undefined> {
    const fitting = longestWithin(model, Math.min(CALL_MS, ms) / scheduler.speed.predict(1, 0).ms);
    // A large model takes longer than a call should, even for one token.
    const sequences = [new Int32Array(Math.max(fitting, 1))];
    const plan = planOf(model, sequences, scheduler.speed);
    if (fitting === 0 && plan.compute.ms > ms) return undefined;
    const tookMs = await scheduler.whenIdle(plan.measuredMs, () => model.run(sequences, now));
    if (tookMs === undefined) return undefined;
    endedAt = now();
    return { plan, tookMs };
  }

  /** `spentMs`: CPU time of the request. `wasTooSlow`: whether it was lost because this deployment seems too slow. */
  return async (model: Computing, { spentMs, wasTooSlow }: { spentMs: number; wasTooSlow: boolean }): Promise<void> => {
    if (now() < busyUntil || (scheduler.speed.isWarm() && !wasTooSlow)) return;
    let texts = wasTooSlow && isDue() ? MAX_TEXTS : 0;
    let leftMs = CPU_SHARE * cpuLimitMs - spentMs;
    busyUntil = now() + VANISHED_MS;
    try {
      while (texts > 0 || !scheduler.speed.isWarm()) {
        // The answer leaves first, and what has arrived is heard.
        await nextTurn();
        if (isBusy()) return;
        const computed = await computeWithin(leftMs, model);
        if (!computed) return;
        const { ms, spreadMs } = computed.plan.compute;
        leftMs -= ms;
        const isKnown = ms <= RIGHT * computed.tookMs && spreadMs <= CERTAIN * ms;
        texts = isKnown || scheduler.speed.isBlind() ? 0 : texts - 1;
      }
    } catch {
      // The next request meets the same error, and reports it.
    } finally {
      busyUntil = Number.NEGATIVE_INFINITY;
    }
  };
}
