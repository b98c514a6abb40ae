import { BertEdge } from "../../client/bert-edge.ts";
import { BertEdgeClientError } from "../../client/errors.ts";
import { responseError } from "../../client/response-error.ts";
import {
  BUDGET_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  REASON_HEADER,
  TIER_HEADER,
  type Tier,
  timingOf,
} from "../../serve/contract/headers.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import { parsedJson } from "../inspect-deployment.ts";

/** Maximum bytes that are read of the body of `/ready` or of an error. Such bodies have less than 10 kB. */
const MAX_BODY_BYTES = 1e6;

export interface ProbeOptions {
  readonly url: string;
  readonly key: string;
  /** Timeout of each request, in ms. */
  readonly timeoutMs: number;
  /** Maximum number of retries after a failure that may pass. Default 2. */
  readonly maxRetries?: number;
  /** The model to ask for. Default: the default model of the deployment. */
  readonly model?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface ProbeQuestion {
  /** The only tier that may answer. */
  readonly tier?: Tier;
  /** Key to send instead of the right one; undefined sends none. */
  readonly otherKey?: { readonly key: string | undefined };
  readonly budgetMs?: number;
  /** Name of the prompt of the texts. Default: the model's default prompt. */
  readonly promptName?: string | undefined;
}

/** An answer, with what its headers say. */
export interface ProbeAnswer {
  readonly vectors: readonly Float32Array[];
  readonly tier: string | undefined;
  readonly reason: string | undefined;
  /** name@version */
  readonly model: string;
  readonly provider: string | undefined;
  /** Predicted and measured ms. `computeMs` is undefined when the answer has no `server-timing` of the edge's computation. */
  readonly predictedMs: number | undefined;
  readonly computeMs: number | undefined;
  /** Milliseconds between request and answer, measured here. */
  readonly ms: number;
}

/** Asks a deployment through the typed client. */
export interface Probe {
  readonly url: string;
  /**
   * Embeds texts in one request.
   *
   * @returns the client's error if the deployment refuses or fails
   */
  ask(texts: readonly string[], question?: ProbeQuestion): Promise<ProbeAnswer | BertEdgeClientError>;
  /** Asks `/ready`. Returns the status and the body; undefined if nothing answers in time. */
  ready(): Promise<{ status: number; body: unknown } | undefined>;
}

export const failed = (outcome: ProbeAnswer | BertEdgeClientError): outcome is BertEdgeClientError =>
  outcome instanceof BertEdgeClientError;

/** Whether an answer came that the client refuses, such as one whose vectors have NaN. */
export const isWrongAnswer = ({ code }: BertEdgeClientError): boolean => code === "response_invalid";

/** Describes an error of the client with its status and code. */
export const described = ({ message, code, status }: BertEdgeClientError): string =>
  `${status ? `HTTP ${status} ` : ""}${code}: ${message}`;

export function openProbe({
  url,
  key,
  timeoutMs,
  maxRetries = 2,
  model: modelName,
  fetch: send = fetch,
}: ProbeOptions): Probe {
  return {
    url,
    async ask(texts, { tier, otherKey, budgetMs, promptName } = {}) {
      let last: { headers: Headers; ms: number } | undefined;
      /** Stops the client, which would otherwise split a request that exceeds the CPU limit. */
      const refused = new AbortController();
      const observed: typeof fetch = async (input, init) => {
        const headers = new Headers(init?.headers);
        if (tier) headers.set(TIER_HEADER, tier);
        if (budgetMs !== undefined) headers.set(BUDGET_HEADER, budgetMs.toFixed(2));
        if (otherKey) headers.delete("authorization");
        if (otherKey?.key !== undefined) headers.set("authorization", `Bearer ${otherKey.key}`);
        const start = performance.now();
        const response = await send(input, { ...init, headers, redirect: "manual" });
        last = { headers: response.headers, ms: performance.now() - start };
        if (response.status === 400) {
          const error = responseError(response, (await boundedText(response.clone(), MAX_BODY_BYTES)) ?? "", []);
          if (error.code === "request_too_costly") refused.abort(error);
        }
        return response;
      };
      const client = new BertEdge({
        baseURL: url,
        apiKey: key,
        timeoutMs,
        maxRetries,
        batchSize: Math.max(texts.length, 1),
        fetch: observed,
      });
      try {
        const { embeddings, model, version } = await client.embed(texts, {
          ...{ truncate: true, signal: refused.signal },
          ...(modelName && { model: modelName }),
          ...(promptName !== undefined && { promptName }),
        });
        const { headers = new Headers(), ms = 0 } = last ?? {};
        const text = (name: string) => headers.get(name) ?? undefined;
        const timing = headers.get("server-timing");
        const predicted = headers.get(PREDICTED_HEADER);
        return {
          vectors: embeddings,
          tier: text(TIER_HEADER),
          reason: text(REASON_HEADER),
          model: text(MODEL_HEADER) ?? `${model}@${version}`,
          provider: text(PROVIDER_HEADER),
          predictedMs: predicted === null ? undefined : Number(predicted),
          computeMs: /(?:^|,)\s*compute;dur=/.test(timing ?? "") ? timingOf(timing, "compute") : undefined,
          ms,
        };
      } catch (error) {
        if (error instanceof BertEdgeClientError) return error;
        throw error;
      }
    },
    async ready() {
      try {
        const address = new URL("ready", url.replace(/\/*(\/v1\/*)?$/, "/"));
        const response = await send(address, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
        const body = await boundedText(response, MAX_BODY_BYTES);
        return { status: response.status, body: parsedJson(body ?? "") };
      } catch {
        return undefined;
      }
    },
  };
}
