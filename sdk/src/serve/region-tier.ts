import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { parseJson } from "../artifact/parse-json.ts";
import { decodeFloats } from "./base64.ts";
import type { EmbedRequest } from "./contract/embed.ts";
import { errorStatus, type HttpErrorCode } from "./contract/errors.ts";
import { BUDGET_HEADER, PROVIDER_HEADER } from "./contract/headers.ts";
import { regionEstimate } from "./routing/region-estimate.ts";
import { computedMs } from "./server-timing.ts";
import type { Background, EmbedQuery, TierAnswer } from "./service.ts";

export interface RegionTierOptions {
  /** Where the regional function is, e.g. `https://region.example.com`. */
  url: string;
  /** Its API key. */
  key: string;
  /** Network and queue time to assume before the first fetch, in ms. Default 50. */
  priorMs?: number;
  /** The longest a fetch may take when no budget says less, in ms. Default 10 000. */
  timeoutMs?: number;
  /** How long the region is left alone after it failed, in ms. Default 5 000. */
  restMs?: number;
  /** After how long without a fetch the estimate is refreshed by a probe, in ms. Default 30 000. */
  probeMs?: number;
  fetch?: typeof fetch;
  now?: () => number;
}

export interface ExpectedAnswer {
  readonly model: string;
  /** Of the model that the edge serves; undefined while it is not loaded. */
  readonly version: string | undefined;
  readonly dimensions: number | undefined;
  /** What the region's computation should take by the manifest, in ms. */
  readonly computeMs: number;
}

/** The regional function as the edge sees it. */
export interface RegionTier {
  /** False for a while after a failure. */
  usable(): boolean;
  /**
   * Probes the region in the background unless it was measured lately: an estimate that is too high would otherwise
   * never be corrected, for nobody would be sent there.
   */
  keepMeasured(background: Background): void;
  /** @param computeMs what its computation should take by the manifest */
  predict(computeMs: number): number;
  /**
   * @param expected an answer of another version or width is refused, for its vectors could not be compared with the
   *   edge's
   * @throws BertEdgeError `region_failed` when the region did not answer well or in time, or the region's own error
   *   when the request is at fault
   */
  embed(query: EmbedQuery, expected: ExpectedAnswer): Promise<TierAnswer>;
}

/** Shorter waits end at a pause of the scheduler or the garbage collector as easily as at a fault. */
const MIN_PATIENCE_MS = 100;

const Answer = v.object({
  model: v.string(),
  version: v.string(),
  embeddings: v.array(v.string()),
  usage: v.object({ tokens: v.number() }),
});
const requestFaults = (Object.keys(errorStatus) as HttpErrorCode[]).filter((code) => errorStatus[code] === 400);
const Refusal = v.object({
  error: v.object({
    code: v.picklist(requestFaults),
    message: v.string(),
    hint: v.optional(v.string()),
  }),
});

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
    throw new BertEdgeError("setting_invalid", `The region's URL is not a URL: ${url}`, {
      hint: "Set REGION_URL to where the region is, e.g. https://region.example.com, or leave it out.",
    });
  }
  const base = url.endsWith("/") ? url : `${url}/`;
  const send: typeof fetch = options.fetch ?? ((request, init) => fetch(request, init));
  const endpoint = new URL("v1/embed", base);
  const estimate = regionEstimate(priorMs);
  let restUntil = Number.NEGATIVE_INFINITY;
  let measuredAt = Number.NEGATIVE_INFINITY;

  const failed = (what: string, cause?: unknown) =>
    new BertEdgeError("region_failed", `The region at ${endpoint.host} ${what}.`, { cause });

  /** A caller's budget bounds the wait, unless that leaves the region no fair chance: giving up costs more than waiting. */
  const patience = (remainingMs: number | undefined, predictedMs: number) =>
    Math.min(
      timeoutMs,
      remainingMs === undefined ? timeoutMs : Math.max(remainingMs, 4 * predictedMs, MIN_PATIENCE_MS),
    );

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
    // Node takes whole milliseconds only, and forgets a Request's own signal when it collects the Request.
    const waitMs = Math.ceil(patience(remainingMs, estimate.predict(computeMs)));
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
    async embed(query, { model, version, dimensions, computeMs }) {
      const start = now();
      let tooLarge = false;
      try {
        const response = await ask(query, model, computeMs);
        const text = await response.text();
        const totalMs = now() - start;
        // What one request is too large for says nothing of the others.
        tooLarge = response.status === 413;
        if (!response.ok) throw refusal(response.status, text) ?? failed(`answered HTTP ${response.status}`);
        const answer = parseJson(Answer, text, { code: "region_failed", what: "region's answer", hint: "" });
        if (version !== undefined && answer.version !== version) {
          throw failed(`serves ${model}@${answer.version}, the edge ${model}@${version}`);
        }
        const vectors = answer.embeddings.map(decodeFloats);
        const width = dimensions ?? vectors[0]?.length;
        if (vectors.length !== query.texts.length || vectors.some(({ length }) => length === 0 || length !== width)) {
          throw failed(`answered ${query.texts.length} texts with vectors of the wrong number or width`);
        }
        const computed = Math.min(totalMs, computedMs(response.headers.get("server-timing")));
        estimate.observe({ totalMs, computedMs: computed, computeMs });
        measuredAt = now();
        return {
          vectors,
          tokens: answer.usage.tokens,
          model,
          version: answer.version,
          provider: response.headers.get(PROVIDER_HEADER) ?? "unknown",
          timings: { region: totalMs, "region-compute": computed },
        };
      } catch (error) {
        if (error instanceof BertEdgeError && error.code in errorStatus) throw error;
        if (!tooLarge) restUntil = now() + restMs;
        throw error instanceof BertEdgeError ? error : failed("could not be reached or was late", error);
      }
    },
  };
}

/** The region's own verdict on the request, if the request is at fault: it would be the same anywhere. */
function refusal(status: number, text: string): BertEdgeError | undefined {
  if (status !== 400) return undefined;
  const { error } = parseJson(Refusal, text, { code: "region_failed", what: "region's error", hint: "" });
  return new BertEdgeError(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
}
