import { BUDGET_HEADER, CALLER_HEADER, PRECISION_HEADER } from "../contract/headers.ts";
import { anyone } from "../queue/caller.ts";
import type { RequestOptions, TierAnswer } from "../service.ts";
import { traceHeaders } from "../trace.ts";
import { ask } from "./ask.ts";
import type { RegionQuestion } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { type AskingThread, regionProbe } from "./probe.ts";
import { regionConnection } from "./region-connection.ts";
import { forwardedBudgetMs, patienceMs } from "./region-estimate.ts";
import { type RegionTierOptions, regionSettings } from "./region-settings.ts";

/** A question to a region, with the options of the caller's request. */
export type RegionQuery = RequestOptions & RegionQuestion;

export interface RegionCallOptions {
  signal?: AbortSignal | undefined;
  /** Whether the edge computes the answer at the same time. Then a failure is not retried in another region. Default false. */
  hedge?: boolean | undefined;
}

/**
 * Connects the edge to its region: `probe.ts` measures the region, and `ask.ts` gets its answers.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function connectRegion(options: RegionTierOptions & Partial<AskingThread>) {
  const { priorMs = 50, timeoutMs = 10_000, probeMs = 30_000 } = options;
  const { now = () => performance.now(), busyMs = () => 0, fetch: fetcher = (...given) => fetch(...given) } = options;
  const connection = regionConnection(regionSettings(options), fetcher);
  const probe = regionProbe(connection, { priorMs, timeoutMs, probeMs, now, busyMs });
  const { estimate } = probe;
  const isOurs = connection.dialect.foreign === undefined;

  return {
    predict: probe.predict,
    keepMeasured: probe.keepMeasured,
    /**
     * Asks the region.
     *
     * @throws BertEdgeError `region_failed` when the region is unreachable or late, or its answer is not the expected one;
     *   `region_overloaded` when the region has no time for the request; the region's error when the request is invalid
     * @throws the reason of `signal` when it aborts the request. Nothing is concluded about the region.
     */
    async ask(query: RegionQuery, expected: ExpectedAnswer, { signal }: RegionCallOptions = {}): Promise<TierAnswer> {
      const { caller = anyone, deadline, precision, trace } = query;
      const { model, computeMs } = expected;
      signal?.throwIfAborted();
      probe.assertProven(query, expected);
      const remainingMs = deadline.remainingMs();
      const timeLimitMs = patienceMs(estimate.predict(computeMs), remainingMs, timeoutMs);
      const timeout = AbortSignal.timeout(timeLimitMs);
      const headers = {
        ...(remainingMs !== undefined && {
          [BUDGET_HEADER]: forwardedBudgetMs(estimate.networkMs(), remainingMs).toFixed(1),
        }),
        ...(precision && { [PRECISION_HEADER]: precision }),
        ...(isOurs && caller.id !== "" && { [CALLER_HEADER]: caller.key || caller.behind }),
        ...(trace && traceHeaders(trace)),
      };
      const patience = signal ? AbortSignal.any([timeout, signal]) : timeout;
      const measured = probe.measure(computeMs, timeLimitMs, model, remainingMs);
      try {
        const { report, ...answer } = await ask(connection, query, { expected, headers, signal: patience });
        return { ...answer, model, timings: measured.answered(report) };
      } catch (cause) {
        signal?.throwIfAborted();
        throw measured.failed(cause).error;
      } finally {
        measured.end();
      }
    },
  };
}

/** The region, as the edge sees it. */
export type RegionTier = ReturnType<typeof connectRegion>;
