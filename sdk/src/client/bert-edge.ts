import { type CallSettings, embedAll } from "./embed-all.ts";
import type { Embeddings, EmbedOptions, PartialEmbeddings, SkippingOptions } from "./embeddings.ts";

export interface BertEdgeOptions {
  /** The URL of the deployment, for example `https://bert.example.workers.dev`. It may end in `/v1`. */
  baseURL: string;
  /** One of the deployment's API keys. HTTP headers carry only characters of Latin-1. */
  apiKey: string;
  /** Default latency budget of requests, in ms. Default: none. */
  latencyBudgetMs?: number;
  /** Timeout of a request, in ms. A retry has the same timeout again. Default 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries of a request after HTTP 429, HTTP 5xx that may pass, and dropped connections. Default 3. */
  maxRetries?: number;
  /** Maximum number of requests of a call at the same time. Default 4. */
  concurrency?: number;
  /** Maximum number of texts per request. Requests that exceed the limits of the deployment are halved. Default 128. */
  batchSize?: number;
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Client of a bert-edge deployment. */
export class BertEdge {
  readonly #settings: Omit<CallSettings, "fetch" | "signal"> & Pick<BertEdgeOptions, "fetch">;

  constructor({ timeoutMs = 30_000, maxRetries = 3, concurrency = 4, batchSize = 128, ...options }: BertEdgeOptions) {
    const { baseURL, apiKey } = options;
    if (!URL.canParse(baseURL)) throw new TypeError(`baseURL is not a valid URL: ${baseURL}`);
    if (!/^[ -\xff]+$/.test(apiKey?.trim() ?? "")) throw new TypeError("apiKey is missing, empty or not in Latin-1");
    const numbers = { timeoutMs: Math.ceil(timeoutMs), maxRetries, concurrency, batchSize };
    for (const [name, value] of Object.entries(numbers)) {
      if (!Number.isInteger(value) || value < (name === "maxRetries" ? 0 : 1)) {
        throw new TypeError(`${name} is not valid: ${value}`);
      }
    }
    this.#settings = { ...options, ...numbers, url: withoutVersion(baseURL), report: {} };
  }

  /**
   * Embeds one or several texts. Splits many texts into requests, and tries failed requests again.
   *
   * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
   */
  embed(texts: string | readonly string[], options: SkippingOptions): Promise<PartialEmbeddings>;
  embed(texts: string | readonly string[], options?: EmbedOptions): Promise<Embeddings>;
  async embed(
    texts: string | readonly string[],
    options: EmbedOptions | SkippingOptions = {},
  ): Promise<Embeddings | PartialEmbeddings> {
    const { fetch: send = fetch, latencyBudgetMs } = this.#settings;
    const { failed, ...result } = await embedAll(typeof texts === "string" ? [texts] : texts, {
      ...options,
      ...this.#settings,
      fetch: send,
      latencyBudgetMs: options.latencyBudgetMs ?? latencyBudgetMs,
    });
    return options.onError === "skip" ? { ...result, failed } : (result as Embeddings);
  }
}

/** Returns the URL with a slash at the end, and without `/v1`, which clients of OpenAI's API need. */
function withoutVersion(baseURL: string): string {
  const url = new URL(baseURL);
  url.pathname = url.pathname.replace(/\/*(\/v1\/*)?$/, "/");
  return url.href;
}
