import type { Reason, Tier } from "../contract/headers.ts";
import type { RefusalCode, Refused } from "../refusal.ts";
import { newRetryBudget } from "../region/regions.ts";
import type { AnswerDetails, RequestOptions, RequestTotals, TaskQuery } from "../service.ts";
import type { RequestTrace } from "../trace.ts";

/** Whether an answer is expected to be late, or to be slower than the answer of a working region. */
export const isExpectedLate = (reason: Reason): boolean => reason === "over-budget" || reason === "region-down";

/** Counts and logs the answers of a deployment, remembers predictions that callers got, and limits extra requests. */
export function requestObserver({ tier, log }: { readonly tier: Tier; readonly log: DecisionLog }) {
  const answers = new Map<Tier, Map<Reason, number>>();
  const refusals = new Map<RefusalCode, number>();
  const retryBudget = newRetryBudget();
  const issued = issuedPredictions();
  return {
    totals: { answers, refusals } satisfies RequestTotals,
    retryBudget,
    answered({ caller, call, deadline, trace }: TaskQuery<unknown>, answer: AnswerDetails): void {
      const { tier: outcome, reason, predictedMs, decision: basis } = answer;
      retryBudget.answered();
      const byReason = answers.get(outcome) ?? new Map<Reason, number>();
      answers.set(outcome, byReason);
      increment(byReason, reason);
      if (outcome === tier && predictedMs !== undefined) issued.record(caller?.id, predictedMs);
      const isUnusual = outcome !== tier || "hedge" in basis || isExpectedLate(reason);
      const texts = call.texts.length;
      logDecision(log, { outcome, texts, reason, isUnusual, basis, elapsedMs: deadline.elapsedMs(), trace });
    },
    /** Counts and logs a refusal. @param texts number of the request's texts; undefined while it is unknown */
    refused({ code: outcome, basis }: Refused, { deadline, trace }: RequestOptions, texts?: number): void {
      increment(refusals, outcome);
      logDecision(log, { outcome, texts, isUnusual: true, basis, elapsedMs: deadline.elapsedMs(), trace });
    },
    /** Returns a caller's report. Ignores all but the first about an answer, because reports change the predictions of all callers. */
    reportOf: ({ caller, report }: RequestOptions) =>
      report && issued.take(caller?.id, report.predictedMs) ? report : undefined,
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Maximum number of remembered predictions per caller, and of remembered callers. */
const [PER_CALLER, CALLERS] = [256, 1_000];

/** Remembers the last predictions of each caller. A caller may report the time of each of its own answers once. */
export function issuedPredictions() {
  const issued = new Map<string | undefined, number[]>();
  return {
    record(caller: string | undefined, predictedMs: number): void {
      const own = issued.get(caller) ?? [];
      // Callers whose keys were removed stay in the map, so a full map forgets its oldest caller.
      if (!issued.has(caller) && issued.size === CALLERS) issued.delete(issued.keys().next().value);
      issued.set(caller, own);
      own.push(asSent(predictedMs));
      if (own.length > PER_CALLER) own.shift();
    },
    /** Returns whether the caller got this prediction and has not reported about it, and forgets it. */
    take(caller: string | undefined, predictedMs: number): boolean {
      const own = issued.get(caller) ?? [];
      const at = own.indexOf(asSent(predictedMs));
      if (at >= 0) own.splice(at, 1);
      return at >= 0;
    },
  };
}

/** Rounds a prediction as its response header does: to two decimals. */
const asSent = (ms: number): number => Number(ms.toFixed(2));

/** Decisions to log: all, none, or only refusals, answers for which the region was asked, and answers that are expected late. */
export type DecisionLog = "all" | "unusual" | false;

/** A decision about a request, and what followed. Times are in milliseconds. */
export interface LoggedDecision {
  /** The tier that answered, or the code of the refusal. */
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly isUnusual: boolean;
  /** Number of texts; undefined if the request was refused before its body was read. */
  readonly texts?: number | undefined;
  readonly basis: Readonly<Record<string, number | true>>;
  readonly elapsedMs: number;
  readonly trace: RequestTrace | undefined;
}

/** Logs a decision as one line of JSON, which log services can search. */
export function logDecision(log: DecisionLog, decision: LoggedDecision): void {
  const { outcome, isUnusual, basis, elapsedMs, trace, ...fields } = decision;
  if (log === false || (log === "unusual" && !isUnusual)) return;
  const times = Object.entries({ ...basis, elapsedMs }).map(([name, value]) => [
    name,
    typeof value === "number" ? Math.round(value * 10) / 10 : value,
  ]);
  console.log(JSON.stringify({ "bert-edge": outcome, ...fields, ...Object.fromEntries(times), ...trace }));
}
