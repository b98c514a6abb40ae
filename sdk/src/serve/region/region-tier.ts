import { BertEdgeError } from "../../artifact/error.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import type { Background } from "../background.ts";
import { BUDGET_HEADER, PRECISION_HEADER } from "../contract/headers.ts";
import type { AnswerEstimate } from "../queue/speed.ts";
import type { CallTerms, TierAnswer } from "../service.ts";
import { traceHeaders } from "../trace.ts";
import { ask, logFailure, MAX_ERROR_BYTES, RegionRefused, readRefusal } from "./ask.ts";
import { breaker as newBreaker } from "./breaker.ts";
import { FP16_COSINE } from "./compare-golden.ts";
import type { RegionQuestion, RegionReport } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { goldenProof, type ProvableModel } from "./proof.ts";
import { connectionFailed, regionConnection } from "./region-connection.ts";
import { regionEstimate } from "./region-estimate.ts";
import { type RegionAddress, regionSettings } from "./region-settings.ts";
import { forwardedBudgetMs, PROBE_TIMEOUT_MS, patienceMs } from "./time-limits.ts";

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

export type ConnectOptions = RegionTierOptions & {
  /**
   * Returns the milliseconds for which computations have occupied this thread so far. A busy edge must not take its own
   * delay for the region's. Default: never busy.
   */
  busyMs?: () => number;
};

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

/** When a request was sent, and how long computations had occupied the thread before, in milliseconds. */
interface Sent {
  readonly start: number;
  readonly busyBefore: number;
}

/** Time for which a region is not asked for a model that it did not serve, in ms. */
const LACKS_MODEL_MS = 60_000;

/** Node's timers can fire this much too early, in ms. */
const TIMER_TOLERANCE_MS = 2;

/**
 * Connects the edge to its region, and estimates the region's response time from every answer.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function connectRegion(options: ConnectOptions): RegionTier {
  const { priorMs = 50, timeoutMs = 10_000, probeMs = 30_000 } = options;
  const { now = () => performance.now(), busyMs = () => 0 } = options;
  const connection = regionConnection(
    regionSettings(options),
    options.fetch ?? ((request, init) => fetch(request, init)),
  );
  const { transport, dialect } = connection;
  const estimate = regionEstimate({ priorMs, now });
  const breaker = newBreaker(now);
  const proof = dialect.isForeign ? goldenProof({ connection, timeoutMs, now }) : undefined;
  /** The version that the edge serves, and that a foreign region has to run. */
  let served: string | undefined;
  /** Models that the region does not serve, and when it is asked for them again. */
  const lacking = new Map<string, number>();
  let measuredAt = Number.NEGATIVE_INFINITY;
  let probingUntil = Number.NEGATIVE_INFINITY;

  const sending = (): Sent => ({ start: now(), busyBefore: busyMs() });

  const budgetHeader = (remainingMs: number | undefined) =>
    remainingMs !== undefined && {
      [BUDGET_HEADER]: forwardedBudgetMs(estimate.networkMs(), remainingMs).toFixed(1),
    };

  /** Learns from a good response. Returns the milliseconds of the fetch, and of its parts that the region reported. */
  function learn(
    reportOf: (tookMs: number) => RegionReport | undefined,
    { start, busyBefore }: Sent,
    computeMs: number,
  ): TierAnswer["timings"] {
    const end = now();
    const report = reportOf(end - start);
    const fetched = { start, end, computeMs, busyMs: busyMs() - busyBefore };
    measuredAt = end;
    if (!report) {
      estimate.observeUnreported(fetched);
      return { region: end - start };
    }
    estimate.observe({ ...fetched, ...report });
    const { queuedMs, computedMs } = report;
    return { region: end - start, ...(queuedMs > 0 && { "region-queue": queuedMs }), "region-compute": computedMs };
  }

  /** Learns from an error. Returns the error for the caller. */
  function learnFailure(error: unknown, sent: Sent, waitMs: number, model: string): BertEdgeError {
    if (!(error instanceof RegionRefused)) {
      countFailure(sent, waitMs, error);
      return error instanceof BertEdgeError
        ? error
        : connectionFailed(connection, "could not be reached, or did not answer in time", error);
    }
    const { refusal } = error;
    estimate.refused(now() - sent.start, refusal.waitMs);
    if (refusal.lacksModel) lacking.set(model, now() + LACKS_MODEL_MS);
    if (refusal.isAlive) breaker.answered();
    else countFailure(sent, waitMs, refusal.error);
    return refusal.error;
  }

  /**
   * Counts a failure, unless the edge itself was so busy that the region may have answered in time.
   *
   * @returns whether the failure opened the breaker
   */
  function countFailure({ start, busyBefore }: Sent, waitMs: number, cause: unknown): boolean {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const tookMs = now() - start;
    const waitedMs = tookMs - (busyMs() - busyBefore);
    const wasPatient = waitedMs >= Math.min(waitMs, tookMs) - TIMER_TOLERANCE_MS;
    const isDown = (!isLate || wasPatient) && breaker.failed(start, cause instanceof BertEdgeError);
    if (isDown) proof?.forget();
    return isDown;
  }

  async function probe(model: ProvableModel | undefined): Promise<void> {
    const sent = sending();
    probingUntil = sent.start + PROBE_TIMEOUT_MS;
    try {
      const options = { withKey: dialect.isForeign };
      const response = await transport.get(dialect.probePath, options, AbortSignal.timeout(PROBE_TIMEOUT_MS));
      const body = await boundedText(response, MAX_ERROR_BYTES);
      if (response.ok) learn((tookMs) => dialect.readReport(response.headers, tookMs), sent, 0);
      else {
        const refusal = readRefusal(response, body, 0, connection);
        estimate.refused(now() - sent.start, refusal.waitMs);
        if (!refusal.isAlive) throw refusal.error;
      }
      breaker.probed();
      if (model && response.ok && proof?.isDue(model)) {
        probingUntil = now() + timeoutMs;
        await proof.prove(model);
      }
    } catch (cause) {
      const error =
        cause instanceof BertEdgeError ? cause : connectionFailed(connection, "did not answer a probe", cause);
      const isDown = countFailure(sent, PROBE_TIMEOUT_MS, cause);
      if (isDown) logFailure(error);
    } finally {
      probingUntil = Number.NEGATIVE_INFINITY;
    }
  }

  /** @throws BertEdgeError when a foreign region cannot be expected to give the edge's answer */
  function assertProven({ precision }: CallTerms, { version, onlyOurs, model }: ExpectedAnswer): void {
    const cosine = proof?.cosine(version);
    if (cosine === undefined) throw connectionFailed(connection, `has not shown that it runs ${model}@${version}`);
    if (onlyOurs) throw connectionFailed(connection, "may cut texts elsewhere than the edge, or pool other tokens");
    if (precision === undefined || precision === "int8" || cosine >= FP16_COSINE) return;
    throw new BertEdgeError(
      "precision_unavailable",
      `The region at ${transport.host} has a lower precision than ${precision}.`,
      { hint: "Leave the header x-bert-edge-precision out." },
    );
  }

  return {
    predict(computeMs, { onlyOurs = false, model = "" } = {}) {
      if (now() < (lacking.get(model) ?? 0)) return "down";
      const isReady = !proof || (!onlyOurs && served !== undefined && proof.cosine(served) !== undefined);
      return breaker.state() === "closed" && isReady ? estimate.predict(computeMs) : "down";
    },
    keepMeasured(background, maxAgeMs = probeMs, model) {
      served = model?.version ?? served;
      if (now() < probingUntil || breaker.state() === "open") return;
      const isDue = model !== undefined && proof?.isDue(model);
      if (!isDue && !breaker.wantsProbe() && now() - measuredAt < maxAgeMs) return;
      measuredAt = now();
      background(probe(model));
    },
    async ask(query, expected, { signal } = {}) {
      const { inputs, sequences, truncate, deadline, precision, trace } = query;
      const { model, norm, computeMs } = expected;
      signal?.throwIfAborted();
      if (proof) assertProven(query, expected);
      const remainingMs = deadline.remainingMs();
      const waitMs = patienceMs(estimate.predict(computeMs), remainingMs, timeoutMs);
      const timeout = AbortSignal.timeout(waitMs);
      const headers = {
        ...budgetHeader(remainingMs),
        ...(precision && { [PRECISION_HEADER]: precision }),
        ...(trace && traceHeaders(trace)),
      };
      const answered = estimate.sent(computeMs);
      const sent = sending();
      try {
        const question = { inputs, sequences, truncate, model, normalize: norm === "one" };
        const patience = signal ? AbortSignal.any([timeout, signal]) : timeout;
        const { outputs, tokens, version, provider, report } = await ask(connection, question, {
          ...{ expected, headers, signal: patience },
        });
        const timings = learn(report, sent, computeMs);
        breaker.answered();
        return { outputs, tokens, version, model, provider, timings };
      } catch (error) {
        signal?.throwIfAborted();
        throw learnFailure(error, sent, waitMs, model);
      } finally {
        answered();
      }
    },
  };
}
