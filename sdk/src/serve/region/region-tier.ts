import { BertEdgeError } from "../../artifact/error.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import type { EmbedRequest } from "../contract/embed.ts";
import { BUDGET_HEADER, PRECISION_HEADER, PROVIDER_HEADER } from "../contract/headers.ts";
import type { AnswerEstimate } from "../queue/speed.ts";
import type { Background, EmbedQuery, TierAnswer } from "../service.ts";
import { traceHeaders } from "../trace.ts";
import { breaker as newBreaker } from "./breaker.ts";
import { type ExpectedAnswer, maxAnswerBytes, readAnswer } from "./read-answer.ts";
import { MAX_ERROR_BYTES, type RegionRefusal, readRefusal } from "./read-refusal.ts";
import { readReport } from "./read-report.ts";
import { regionConnection } from "./region-connection.ts";
import { regionEstimate } from "./region-estimate.ts";
import { type RegionAddress, regionSettings } from "./region-settings.ts";
import { forwardedBudgetMs, PROBE_TIMEOUT_MS, patienceMs } from "./time-limits.ts";

export interface RegionTierOptions extends RegionAddress {
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

export interface ConnectOptions extends RegionTierOptions {
  /**
   * Returns the milliseconds for which computations have occupied this thread so far. A busy edge must not take its own
   * delay for the region's. Default: never busy.
   */
  busyMs?: () => number;
}

/** The region, as the edge sees it. */
export interface RegionTier {
  /**
   * Predicts the time until the region's answer, and its mean deviation, in milliseconds; `down` while the region fails.
   *
   * @param computeMs predicted milliseconds of the region's computation
   */
  predict(computeMs: number): AnswerEstimate | "down";
  /**
   * Probes the region in the background when the last measurement is old, or when the region has failed. A region that
   * seems slow or down gets no requests, so only probes can find out that it has recovered.
   *
   * @param maxAgeMs age at which a measurement is old, in ms. Default: the option `probeMs`
   */
  keepMeasured(background: Background, maxAgeMs?: number): void;
  /**
   * Asks the region.
   *
   * @throws BertEdgeError `region_failed` when the region is unreachable or late, or when its answer is not the expected
   *   one
   * @throws BertEdgeError `region_overloaded` when the region has no time for the request
   * @throws BertEdgeError the region's own error when the request is invalid
   * @throws the reason of `signal` when it aborts the request. Nothing is concluded about the region.
   */
  embed(query: EmbedQuery, expected: ExpectedAnswer, options?: RegionCallOptions): Promise<TierAnswer>;
}

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
  const estimate = regionEstimate({ priorMs, now });
  const breaker = newBreaker(now);
  let measuredAt = Number.NEGATIVE_INFINITY;
  let probingUntil = Number.NEGATIVE_INFINITY;

  const failed = (what: string, cause?: unknown) =>
    new BertEdgeError("region_failed", `The region at ${connection.host} ${what}.`, {
      hint: "Check REGION_URL, REGION_KEY and the region's log.",
      cause,
    });

  const sending = (): Sent => ({ start: now(), busyBefore: busyMs() });

  const budgetHeader = (remainingMs: number | undefined) =>
    remainingMs !== undefined && {
      [BUDGET_HEADER]: forwardedBudgetMs(estimate.networkMs(), remainingMs).toFixed(1),
    };

  /** Learns from a good response. Returns the milliseconds of the fetch, and of its parts that the region reported. */
  function learn({ headers }: Response, { start, busyBefore }: Sent, computeMs: number): TierAnswer["timings"] {
    const end = now();
    const { queuedMs, computedMs, ...report } = readReport(headers, end - start);
    estimate.observe({ start, end, computedMs, computeMs, ...report, busyMs: busyMs() - busyBefore });
    measuredAt = end;
    return { region: end - start, ...(queuedMs > 0 && { "region-queue": queuedMs }), "region-compute": computedMs };
  }

  /** Learns from a response that is not an answer. Returns its error, and whether the region works. */
  function learnRefusal(response: Response, body: string | undefined, { start }: Sent, texts: number): RegionRefusal {
    const refusal = readRefusal(response, body, texts, connection.host);
    estimate.refused(now() - start, refusal.waitMs);
    return refusal;
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
    return (!isLate || wasPatient) && breaker.failed(start, cause instanceof BertEdgeError);
  }

  async function probe(): Promise<void> {
    const sent = sending();
    probingUntil = sent.start + PROBE_TIMEOUT_MS;
    try {
      const response = await connection.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS));
      const body = await boundedText(response, MAX_ERROR_BYTES);
      const refusal = response.ok ? undefined : learnRefusal(response, body, sent, 0);
      if (refusal && !refusal.isAlive) throw refusal.error;
      if (!refusal) learn(response, sent, 0);
      breaker.probed();
    } catch (cause) {
      const error = cause instanceof BertEdgeError ? cause : failed("did not answer a probe", cause);
      const isDown = countFailure(sent, PROBE_TIMEOUT_MS, cause);
      if (isDown) console.error(`bert-edge: ${error.message} ${error.hint}`, error.cause ?? "");
    } finally {
      probingUntil = Number.NEGATIVE_INFINITY;
    }
  }

  return {
    predict: (computeMs) => (breaker.state() === "closed" ? estimate.predict(computeMs) : "down"),
    keepMeasured(background, maxAgeMs = probeMs) {
      if (now() < probingUntil || breaker.state() === "open") return;
      if (!breaker.wantsProbe() && now() - measuredAt < maxAgeMs) return;
      measuredAt = now();
      background(probe());
    },
    async embed({ texts, truncate, deadline, precision, trace }, expected, { signal } = {}) {
      const { model, dimensions, computeMs } = expected;
      signal?.throwIfAborted();
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
      let isAlive = false;
      try {
        const body: EmbedRequest = { inputs: [...texts], truncate, model, encoding_format: "base64" };
        const response = await connection.post(body, headers, signal ? AbortSignal.any([timeout, signal]) : timeout);
        const maxBytes = response.ok ? maxAnswerBytes(texts.length, dimensions) : MAX_ERROR_BYTES;
        const text = await boundedText(response, maxBytes);
        if (!response.ok) {
          const refusal = learnRefusal(response, text, sent, texts.length);
          isAlive = refusal.isAlive;
          throw refusal.error;
        }
        if (text === undefined) throw failed(`sent more than the ${maxBytes} bytes of an answer`);
        const answer = readAnswer(text, texts.length, expected);
        const timings = learn(response, sent, computeMs);
        breaker.answered();
        return { ...answer, model, provider: providerOf(response), timings };
      } catch (error) {
        signal?.throwIfAborted();
        if (isAlive) breaker.answered();
        else countFailure(sent, waitMs, error);
        throw error instanceof BertEdgeError ? error : failed("could not be reached, or did not answer in time", error);
      } finally {
        answered();
      }
    },
  };
}

/** Returns the provider that the region names. It becomes a header of the edge's own answer. */
function providerOf({ headers }: Response): string {
  const provider = headers.get(PROVIDER_HEADER) ?? "";
  return /^[a-z0-9-]{1,32}$/.test(provider) ? provider : "unknown";
}
