import { nextTurn } from "../../artifact/next-turn.ts";
import type { Model } from "../../runtime/model.ts";
import { CALL_MS } from "../queue/speed.ts";
import type { TierChooserOptions } from "./choose-tier.ts";
import { longestWithin, type Plan, planOf } from "./plan.ts";

/** Maximum number of texts that are computed to measure the speed again. */
const MAX_TEXTS = 8;

/** Maximum ratio of a prediction to the measured time if it counts as right, and its maximum relative deviation if it counts as certain. */
const [RIGHT, CERTAIN] = [1.125, 1 / 8];

/** Shortest and longest time in ms without a computation, after which the speed is measured again. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 16_000];

/** Share of the CPU limit that a request and the own texts after it may use together. Loading the model needs the rest. */
const CPU_SHARE = 1 / 2;

/** Time in ms after which a computation of own texts counts as ended: a platform can stop it together with its request. */
const VANISHED_MS = 5_000;

type Computing = Pick<Model, "batches" | "parallel" | "measurements" | "target" | "manifest" | "ready" | "run">;

interface OwnTextsOptions extends Pick<TierChooserOptions, "scheduler" | "cpuLimitMs" | "now"> {
  /** Whether a request is under way. */
  readonly isBusy: () => boolean;
}

/**
 * Makes a function that computes short own texts (not of callers) after a request, while CPU time is left and no request is under
 * way. It does so until the engine is warm. It computes a few more if an old estimate made this deployment seem too slow for the
 * request. Otherwise a deployment that seems slow would get no requests, and never learn that it is fast again. The pause between
 * such measurements doubles until a request is computed here.
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

  /** Computes one text within `ms` milliseconds. @returns its plan and the measured time; undefined if no text fits or a request is here */
  async function computeWithin(ms: number, model: Computing): Promise<{ plan: Plan; tookMs: number } | undefined> {
    const fitting = longestWithin(model, Math.min(CALL_MS, ms) / scheduler.speed.predict(1, 0).ms);
    // A large model takes longer than CALL_MS even for one token. Then one token is computed, if it fits into `ms`.
    const sequences = [new Int32Array(Math.max(fitting, 1))];
    const plan = planOf(model, sequences, scheduler.speed);
    if (fitting === 0 && plan.compute.ms > ms) return undefined;
    // Reads of a page would count as computation.
    await model.ready(sequences);
    const tookMs = await scheduler.whenIdle(plan.measuredMs, () => model.run(sequences, now));
    if (tookMs === undefined) return undefined;
    endedAt = now();
    return { plan, tookMs };
  }

  /** `spentMs`: CPU time of the request. `wasTooSlow`: whether this deployment seemed too slow for it. */
  return async (model: Computing, { spentMs, wasTooSlow }: { spentMs: number; wasTooSlow: boolean }): Promise<void> => {
    if (now() < busyUntil || (scheduler.speed.isWarm() && !wasTooSlow)) return;
    let texts = wasTooSlow && isDue() ? MAX_TEXTS : 0;
    let leftMs = CPU_SHARE * cpuLimitMs - spentMs;
    busyUntil = now() + VANISHED_MS;
    try {
      while (texts > 0 || !scheduler.speed.isWarm()) {
        // Lets the answer be sent first, and lets requests that have arrived be noticed.
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
