import { embedAll } from "./embed-all.ts";
import type { Embeddings, EmbedOptions, PartialEmbeddings, SkippingOptions } from "./embeddings.ts";

export interface BertEdgeOptions {
  /** The URL of the deployment, for example `https://bert.example.workers.dev`. It may end in `/v1`. */
  baseURL: string;
  /** One of the deployment's API keys. */
  apiKey: string;
  /** Default latency budget of requests, in ms. Default: none. */
  latencyBudgetMs?: number;
  /** Timeout of a request, in ms. A retry has the same timeout again. Default 30,000. */
  timeoutMs?: number;
  /**
   * Maximum number of retries of a request after HTTP 429, errors of the platform, dropped connections, and while the
   * deployment's model is unavailable. Default 3.
   */
  maxRetries?: number;
  /** Maximum number of requests of a call at the same time. Default 4. */
  concurrency?: number;
  /** Maximum number of texts per request. Default 128. */
  batchSize?: number;
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Client of a bert-edge deployment. */
export class BertEdge {
  readonly #options: BertEdgeOptions;

  constructor(options: BertEdgeOptions) {
    if (!URL.canParse(options.baseURL)) throw new TypeError(`baseURL is not a valid URL: ${options.baseURL}`);
    if (!options.apiKey) throw new TypeError("apiKey is missing or empty");
    for (const name of ["concurrency", "batchSize"] as const) {
      const value = options[name] ?? 1;
      if (!Number.isInteger(value) || value < 1) throw new TypeError(`${name} is not a positive integer: ${value}`);
    }
    this.#options = options;
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
    const { baseURL, timeoutMs = 30_000, maxRetries = 3, concurrency = 4, batchSize = 128, ...own } = this.#options;
    const skip = options.onError === "skip";
    const { failed, ...result } = await embedAll(typeof texts === "string" ? [texts] : texts, {
      url: withoutVersion(baseURL),
      apiKey: own.apiKey,
      fetch: own.fetch ?? fetch,
      latencyBudgetMs: options.latencyBudgetMs ?? own.latencyBudgetMs,
      truncate: options.truncate ?? false,
      signal: options.signal,
      onProgress: options.onProgress,
      ...{ timeoutMs, maxRetries, concurrency, batchSize, skip },
    });
    return skip ? { ...result, failed } : (result as Embeddings);
  }
}

/** Returns the URL with a slash at the end, and without `/v1`, which clients of OpenAI's API need. */
function withoutVersion(baseURL: string): string {
  const url = new URL(baseURL);
  url.pathname = url.pathname.replace(/\/*(\/v1\/*)?$/, "/");
  return url.href;
}
