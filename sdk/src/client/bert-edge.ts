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
  /** The URL of the deployment, for example `https://bert.example.workers.dev`. */
  baseURL: string;
  /** One of the deployment's API keys. */
  apiKey: string;
  /** Default latency budget of calls, in ms. Default: none. */
  latencyBudgetMs?: number;
  /** Timeout of a call, in ms. Default 30 000. */
  timeoutMs?: number;
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface EmbedOptions {
  /**
   * Time in which you need the answer, in ms. The service chooses the edge or the region by this time. Late answers are
   * sent too.
   */
  latencyBudgetMs?: number;
  /** Whether to cut texts that are too long. Otherwise the call fails. Default false. */
  truncate?: boolean;
  /** Aborts the call. */
  signal?: AbortSignal;
}

export interface Embeddings {
  /** One vector [dimensions] per text, in the order of the texts. */
  embeddings: number[][];
  model: string;
  version: string;
  /** The tier that computed the answer, and why it was chosen. */
  tier: Tier;
  reason: Reason;
  /** Predicted time of the tier, in ms; undefined without a prediction. */
  predictedMs: number | undefined;
  /**
   * Budget that was left when the answer was ready, in ms; negative if the answer was late, undefined without a budget.
   */
  remainingMs: number | undefined;
  /** Tokens of all texts together. */
  tokens: number;
}

// Only types are imported from the contract, to keep the bundle small. The types check that each name equals the name
// in the contract.
const budgetHeader: typeof BUDGET_HEADER = "x-latency-budget-ms";
const reasonHeader: typeof REASON_HEADER = "x-bert-edge-reason";
const predictedHeader: typeof PREDICTED_HEADER = "x-bert-edge-predicted-ms";
const remainingHeader: typeof REMAINING_HEADER = "x-latency-budget-remaining-ms";

/** Client of a bert-edge deployment. */
export class BertEdge {
  readonly #options: BertEdgeOptions;

  constructor(options: BertEdgeOptions) {
    if (!URL.canParse(options.baseURL)) throw new TypeError(`baseURL is not a valid URL: ${options.baseURL}`);
    if (!options.apiKey) throw new TypeError("apiKey is missing or empty");
    this.#options = options;
  }

  /**
   * Embeds one or several texts.
   *
   * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
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

  /** @param read parses the response. It throws a TypeError if the response is not from bert-edge. */
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
          hint: "Raise timeoutMs, or check why the service is slow.",
          cause,
        });
      }
      if (cause instanceof TypeError || cause instanceof SyntaxError) {
        throw new ConnectionError(`${baseURL} could not be reached, or its answer is not from bert-edge.`, {
          code: "connection",
          hint: "Check the network, and that baseURL is the URL of a bert-edge deployment.",
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
    message: `The service answered with HTTP ${status}.`,
    hint: "The answer is not from bert-edge. Check that baseURL is the URL of a bert-edge deployment.",
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
