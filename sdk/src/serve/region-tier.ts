import { BertEdgeError } from "../artifact/error.ts";
import type { EmbedRequest } from "./contract/embed.ts";
import { errorStatus } from "./contract/errors.ts";
import { BUDGET_HEADER, PROVIDER_HEADER } from "./contract/headers.ts";
import { type ExpectedAnswer, readAnswer, readRefusal } from "./region-answer.ts";
import { regionEstimate } from "./routing/region-estimate.ts";
import { computedMs } from "./server-timing.ts";
import type { Background, EmbedQuery, TierAnswer } from "./service.ts";

export interface RegionTierOptions {
  /** The region's URL, for example `https://region.example.com`. */
  url: string;
  /** The region's API key. */
  key: string;
  /** Assumed time for the network and the queue, in ms, until a fetch has been measured. Default 50. */
  priorMs?: number;
  /**
   * Timeout of a fetch, in ms. A request's budget can shorten it, and a long predicted computation extends it.
   * Default 10,000.
   */
  timeoutMs?: number;
  /** Pause after a failure, in ms. Until the pause ends, the edge answers alone. Default 5,000. */
  restMs?: number;
  /** A probe measures the region again when the last measurement is older than this time, in ms. Default 30,000. */
  probeMs?: number;
  fetch?: typeof fetch;
  now?: () => number;
}

/** The region, as the edge sees it. */
export interface RegionTier {
  /** Whether the region may be asked. False for `restMs` after a failure. */
  usable(): boolean;
  /**
   * Probes the region (`GET /health`) in the background, unless the last measurement is recent. A region with an
   * estimate that is too high gets no requests, so only probes can lower the estimate.
   */
  keepMeasured(background: Background): void;
  /**
   * Predicts the region's response time, in milliseconds.
   *
   * @param computeMs predicted milliseconds of the region's computation
   */
  predict(computeMs: number): number;
  /**
   * Asks the region.
   *
   * @throws BertEdgeError `region_failed` when the region is unreachable or late, or when its answer is not the
   *   expected one
   * @throws BertEdgeError the region's own error when the request is invalid
   */
  embed(query: EmbedQuery, expected: ExpectedAnswer): Promise<TierAnswer>;
}

/** Minimum timeout of a fetch, in ms. Pauses of the scheduler or the garbage collector can take almost 100 ms. */
const MIN_WAIT_MS = 100;

/**
 * Connects the edge to its region, and estimates the region's response time from every answer.
 *
 * @throws BertEdgeError `setting_invalid` when `url` is not a URL
 */
export function regionTier(options: RegionTierOptions): RegionTier {
  const {
    url,
    key,
    priorMs = 50,
    timeoutMs = 10_000,
    restMs = 5_000,
    probeMs = 30_000,
    now = () => performance.now(),
  } = options;
  if (!URL.canParse(url)) {
    throw new BertEdgeError("setting_invalid", `The region's URL is not valid: ${url}`, {
      hint: "Set REGION_URL to a URL, for example https://region.example.com, or leave it out.",
    });
  }
  const base = url.endsWith("/") ? url : `${url}/`;
  const endpoint = new URL("v1/embed", base);
  const send: typeof fetch = options.fetch ?? ((request, init) => fetch(request, init));
  const estimate = regionEstimate(priorMs);
  let restUntil = Number.NEGATIVE_INFINITY;
  let measuredAt = Number.NEGATIVE_INFINITY;

  const failed = (what: string, cause?: unknown) =>
    new BertEdgeError("region_failed", `The region at ${endpoint.host} ${what}.`, {
      hint: "Check REGION_URL, REGION_KEY and the region's log.",
      cause,
    });

  /**
   * Returns the timeout of a fetch, in ms: the remaining budget, but at least the time that a working region can need.
   * A shorter timeout would count a working region as failed.
   */
  function waitFor(remainingMs: number | undefined, predictedMs: number): number {
    const longest = Math.max(timeoutMs, 4 * predictedMs);
    return Math.min(longest, Math.max(remainingMs ?? longest, 4 * predictedMs, MIN_WAIT_MS));
  }

  async function ask({ texts, truncate, deadline }: EmbedQuery, model: string, computeMs: number): Promise<Response> {
    const remainingMs = deadline.remainingMs();
    const body: EmbedRequest = { inputs: [...texts], truncate, model, encoding_format: "base64" };
    const request = new Request(endpoint, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(remainingMs !== undefined && { [BUDGET_HEADER]: Math.max(remainingMs, 0.1).toFixed(1) }),
      },
      body: JSON.stringify(body),
    });
    // Node's timeouts are whole milliseconds. The signal is passed to `fetch` and not to the Request, because Node can
    // lose the signal of a Request.
    const waitMs = Math.ceil(waitFor(remainingMs, estimate.predict(computeMs)));
    return send(request, { signal: AbortSignal.timeout(waitMs) });
  }

  async function probe(): Promise<void> {
    const start = now();
    try {
      const response = await send(new Request(new URL("health", base)), { signal: AbortSignal.timeout(timeoutMs) });
      await response.text();
      if (response.ok) estimate.observe({ totalMs: now() - start, computedMs: 0, computeMs: 0 });
      else restUntil = now() + restMs;
    } catch {
      restUntil = now() + restMs;
    }
  }

  return {
    usable: () => now() >= restUntil,
    keepMeasured(background) {
      if (now() - measuredAt < probeMs) return;
      measuredAt = now();
      background(probe());
    },
    predict: (computeMs) => estimate.predict(computeMs),
    async embed(query, expected) {
      const { model, computeMs } = expected;
      const start = now();
      let tooLarge = false;
      try {
        const response = await ask(query, model, computeMs);
        const body = await response.text();
        const totalMs = now() - start;
        tooLarge = response.status === 413;
        if (!response.ok) throw readRefusal(response.status, body) ?? failed(`answered with HTTP ${response.status}`);
        const answer = readAnswer(body, query.texts.length, expected);
        const computed = Math.min(totalMs, computedMs(response.headers.get("server-timing")));
        estimate.observe({ totalMs, computedMs: computed, computeMs });
        measuredAt = now();
        return {
          ...answer,
          model,
          provider: response.headers.get(PROVIDER_HEADER) ?? "unknown",
          timings: { region: totalMs, "region-compute": computed },
        };
      } catch (error) {
        if (error instanceof BertEdgeError && error.code in errorStatus) throw error;
        // A region that refuses a request as too large is not down.
        if (!tooLarge) restUntil = now() + restMs;
        throw error instanceof BertEdgeError ? error : failed("could not be reached, or did not answer in time", error);
      }
    },
  };
}
