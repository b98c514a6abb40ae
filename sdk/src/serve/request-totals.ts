import type { Reason, Tier } from "./contract/headers.ts";
import type { RefusalCode } from "./refusal.ts";

/** Numbers of answers by tier and reason, and of refusals by code, since the process or isolate started. */
export interface RequestTotals {
  readonly answers: ReadonlyMap<Tier, ReadonlyMap<Reason, number>>;
  readonly refusals: ReadonlyMap<RefusalCode, number>;
}

export interface RequestCounter {
  readonly totals: RequestTotals;
  answered(tier: Tier, reason: Reason): void;
  refused(code: RefusalCode): void;
}

/** Counts requests. */
export function requestCounter(): RequestCounter {
  const answers = new Map<Tier, Map<Reason, number>>();
  const refusals = new Map<RefusalCode, number>();
  return {
    totals: { answers, refusals },
    answered(tier, reason) {
      const byReason = answers.get(tier) ?? new Map<Reason, number>();
      answers.set(tier, byReason);
      increment(byReason, reason);
    },
    refused: (code) => increment(refusals, code),
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
