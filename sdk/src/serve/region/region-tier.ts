import type { Background } from "../background.ts";
import { BUDGET_HEADER, PRECISION_HEADER } from "../contract/headers.ts";
import type { AnswerEstimate } from "../queue/speed.ts";
import type { CallTerms, TierAnswer } from "../service.ts";
import { traceHeaders } from "../trace.ts";
import { ask } from "./ask.ts";
import type { RegionQuestion } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { regionProbe } from "./probe.ts";
import type { ProvableModel } from "./proof.ts";
import { regionConnection } from "./region-connection.ts";
import { type RegionAddress, regionSettings } from "./region-settings.ts";
import { forwardedBudgetMs, patienceMs } from "./time-limits.ts";

export interface RegionTiming {
  /** Assumed time for the network, in ms, until a fetch has been measured. Default 50. */
  priorMs?: number;
  /**
   * Timeout of a fetch, in ms. A request's budget can shorten it, and a long predicted computation extends it.
   * Default 10,000.
   */
  timeoutMs?: number;
  /** A probe measures the region again when the last measurement is older than this time, in ms. Default 30,000. */
  probeMs?: number;
  fetch?: typeof fetch;
  now?: () => number;
}

export type RegionTierOptions = RegionAddress & RegionTiming;

/** The thread that asks a region. A busy edge must not take its own delay for the region's. */
export interface AskingThread {
  /** Milliseconds for which computations have occupied the thread so far. A fetch cannot proceed meanwhile. */
  busyMs(): number;
}

/** The region, as the edge sees it. */
export interface RegionTier {
  /**
   * Predicts the time until the region's answer, and its mean deviation, in milliseconds; `down` while the region fails, or
   * while it may not answer.
   *
   * @param computeMs predicted milliseconds of the region's computation
   * @param options.onlyOurs whether only regions of our own compute the same. Default false.
   * @param options.model the model's name. Default: one that the region serves
   */
  predict(
    computeMs: number,
    options?: { readonly onlyOurs?: boolean | undefined; readonly model?: string },
  ): AnswerEstimate | "down";
  /**
   * Probes the region in the background when the last measurement is old, or when the region has failed. A region that
   * seems slow or down gets no requests, so only probes can find out that it has recovered. A region that is not ours is
   * also asked for golden texts.
   *
   * @param maxAgeMs age at which a measurement is old, in ms. Default: the option `probeMs`
   * @param model the model that the edge has loaded
   */
  keepMeasured(background: Background, maxAgeMs?: number, model?: ProvableModel): void;
  /**
   * Asks the region.
   *
   * @throws BertEdgeError `region_failed` when the region is unreachable or late, or when its answer is not the expected
   *   one
   * @throws BertEdgeError `region_overloaded` when the region has no time for the request
   * @throws BertEdgeError the region's own error when the request is invalid
   * @throws the reason of `signal` when it aborts the request. Nothing is concluded about the region.
   */
  ask(query: RegionQuery, expected: ExpectedAnswer, options?: RegionCallOptions): Promise<TierAnswer>;
}

/** A request as the region gets it. */
export type RegionQuery = CallTerms & Pick<RegionQuestion, "inputs" | "sequences" | "truncate">;

export interface RegionCallOptions {
  signal?: AbortSignal | undefined;
  /** Whether the edge answers too. A hedge that fails is not repeated in another region. Default false. */
  hedge?: boolean | undefined;
}

/**
 * Connects the edge to its region: `probe.ts` keeps it measured, and `ask.ts` gets its answers.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function connectRegion(options: RegionTierOptions & Partial<AskingThread>): RegionTier {
  const { priorMs = 50, timeoutMs = 10_000, probeMs = 30_000 } = options;
  const { now = () => performance.now(), busyMs = () => 0, fetch: fetcher = (...given) => fetch(...given) } = options;
  const connection = regionConnection(regionSettings(options), fetcher);
  const probe = regionProbe(connection, { priorMs, timeoutMs, probeMs, now, busyMs });
  const { estimate } = probe;

  return {
    predict: probe.predict,
    keepMeasured: probe.keepMeasured,
    async ask(query, expected, { signal } = {}) {
      const { inputs, sequences, truncate, deadline, precision, trace } = query;
      const { model, norm, computeMs } = expected;
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
        ...(trace && traceHeaders(trace)),
      };
      const question = { inputs, sequences, truncate, model, normalize: norm === "one" };
      const patience = signal ? AbortSignal.any([timeout, signal]) : timeout;
      const measured = probe.measure({ computeMs, patienceMs: timeLimitMs, model });
      try {
        const { report, ...answer } = await ask(connection, question, { expected, headers, signal: patience });
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
