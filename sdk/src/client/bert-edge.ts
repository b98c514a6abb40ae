import type { EmbedRequest, EmbedResponse } from "../serve/contract/embed.ts";
import type { ErrorBody } from "../serve/contract/errors.ts";
import type {
  BUDGET_HEADER,
  PREDICTED_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  Reason,
  Tier,
} from "../serve/contract/headers.ts";
import { AuthenticationError } from "./errors/authentication-error.ts";
import type { BertEdgeClientError } from "./errors/bert-edge-client-error.ts";
import { ConnectionError } from "./errors/connection-error.ts";
import { InvalidRequestError } from "./errors/invalid-request-error.ts";
import { TimeoutError } from "./errors/timeout-error.ts";
import { UnavailableError } from "./errors/unavailable-error.ts";

export interface BertEdgeOptions {
  /** Where the edge is deployed, e.g. `https://bert.example.workers.dev`. */
  baseURL: string;
  apiKey: string;
  /** Latency budget of every call that does not give its own, in ms. Default: none. */
  latencyBudgetMs?: number;
  /** The longest a call may take before it fails, in ms. Default 30 000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface EmbedOptions {
  /** How long the answer may take, in ms. The service keeps to it where it can and says when it could not. */
  latencyBudgetMs?: number;
  /** Cut texts that are too long instead of failing. Default false. */
  truncate?: boolean;
  signal?: AbortSignal;
}

export interface Embeddings {
  /** One vector a text, in their order. */
  embeddings: number[][];
  model: string;
  version: string;
  /** Where it was computed, and why there. */
  tier: Tier;
  reason: Reason;
  /** What that tier was expected to take, in ms; undefined when nothing was known yet. */
  predictedMs: number | undefined;
  /** What was left of the budget when the answer was ready, in ms; undefined without a budget. */
  remainingMs: number | undefined;
  /** Tokens of all texts together. */
  tokens: number;
}

// The contract is imported as types only; the types hold these names to it.
const budgetHeader: typeof BUDGET_HEADER = "x-latency-budget-ms";
const reasonHeader: typeof REASON_HEADER = "x-bert-edge-reason";
const predictedHeader: typeof PREDICTED_HEADER = "x-bert-edge-predicted-ms";
const remainingHeader: typeof REMAINING_HEADER = "x-latency-budget-remaining-ms";

/** A client of a bert-edge deployment. */
export class BertEdge {
  readonly #options: BertEdgeOptions;

  constructor(options: BertEdgeOptions) {
    if (!URL.canParse(options.baseURL)) throw new TypeError(`baseURL is not a URL: ${options.baseURL}`);
    if (!options.apiKey) throw new TypeError("apiKey is empty");
    this.#options = options;
  }

  /**
   * Vectors of texts.
   *
   * @throws BertEdgeClientError one of its subclasses; an abort through `signal` rejects with the signal's reason
   */
  async embed(texts: string | readonly string[], options: EmbedOptions = {}): Promise<Embeddings> {
    const { latencyBudgetMs = this.#options.latencyBudgetMs, truncate = false, signal } = options;
    const body: EmbedRequest = { inputs: typeof texts === "string" ? texts : [...texts], truncate };
    const headers = latencyBudgetMs === undefined ? {} : { [budgetHeader]: String(latencyBudgetMs) };
    return this.#post("v1/embed", body, headers, signal, (json, received) => {
      const { embeddings, model, version, tier, usage } = json as EmbedResponse;
      const milliseconds = (name: string) => {
        const value = received.get(name);
        return value === null ? undefined : Number(value);
      };
      return {
        embeddings: embeddings as number[][],
        model,
        version,
        tier,
        reason: received.get(reasonHeader) as Reason,
        predictedMs: milliseconds(predictedHeader),
        remainingMs: milliseconds(remainingHeader),
        tokens: usage.tokens,
      };
    });
  }

  /** @param read what makes the answer of the response; a TypeError of it means that the response is not bert-edge's */
  async #post<Answer>(
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    read: (json: unknown, headers: Headers) => Answer,
  ): Promise<Answer> {
    const { baseURL, apiKey, timeoutMs = 30_000, fetch: send = fetch } = this.#options;
    const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
    try {
      const response = await send(new URL(path, baseURL.endsWith("/") ? baseURL : `${baseURL}/`), {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const text = await response.text();
      if (!response.ok) throw toError(response.status, text);
      return read(JSON.parse(text), response.headers);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (timeout.aborted) {
        throw new TimeoutError(`${baseURL} did not answer within ${timeoutMs} ms.`, {
          code: "timeout",
          hint: "Raise timeoutMs, or find out why the service is slow.",
          cause,
        });
      }
      if (cause instanceof TypeError || cause instanceof SyntaxError) {
        throw new ConnectionError(`${baseURL} could not be reached, or did not answer as bert-edge does.`, {
          code: "connection",
          hint: "Check baseURL and the network.",
          cause,
        });
      }
      throw cause;
    }
  }
}

function toError(status: number, text: string): BertEdgeClientError {
  const { code, message, hint } = parseError(text) ?? {
    code: `http_${status}` as const,
    message: `The service answered HTTP ${status}.`,
    hint: "The answer is not bert-edge's: check that baseURL is a bert-edge deployment.",
  };
  const details = { code, status, hint };
  if (status === 401) return new AuthenticationError(message, details);
  return status < 500 ? new InvalidRequestError(message, details) : new UnavailableError(message, details);
}

function parseError(text: string): ErrorBody["error"] | undefined {
  try {
    const { error } = JSON.parse(text) as Partial<ErrorBody>;
    return typeof error?.code === "string" && typeof error.message === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}
