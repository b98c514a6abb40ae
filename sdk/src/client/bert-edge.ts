import type { EmbedRequest, EmbedResponse } from "../serve/tasks/embed.ts";
import { type CallChoice, type CallSettings, callAll } from "./call-all.ts";
import { snakeCase } from "./camel-case.ts";
import { collectCalls } from "./collect-calls.ts";
import { type EmbedManyOptions, embedMany } from "./embed-many.ts";
import type { Embeddings, EmbedOptions, PartialEmbeddings, SkippingOptions } from "./embeddings.ts";
import { readVectors } from "./read-vectors.ts";
import { type CallList, TaskMethods } from "./task-methods.ts";

export interface BertEdgeOptions {
  /** The URL of the deployment, for example `https://bert.example.workers.dev`. It may end in `/v1`. */
  baseURL: string;
  /** One of the deployment's API keys. HTTP headers carry only characters of Latin-1. */
  apiKey: string;
  /** Default latency budget of requests, in ms, or `none`. Default: that of the deployment, which most do not have. */
  latencyBudgetMs?: number | "none";
  /** Timeout of a request, in ms. A retry has the same timeout again. Default 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries of a request after HTTP 429, HTTP 5xx that may pass, and dropped connections. Default 3. */
  maxRetries?: number;
  /** Maximum number of requests of a call at the same time. Default 4. */
  concurrency?: number;
  /** Maximum number of texts per request. Requests that exceed the limits of the deployment are halved. Default 128. */
  batchSize?: number;
  /**
   * Time in ms for which a call of `embed` for one text waits for others with the same options, to go in one request. `tokens` and
   * `requests` are then those of all. Default: calls do not wait.
   */
  collectMs?: number;
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Client of a bert-edge deployment. */
export class BertEdge extends TaskMethods {
  readonly #settings: Omit<CallSettings, "fetch" | keyof CallChoice> &
    Pick<BertEdgeOptions, "fetch" | "latencyBudgetMs">;

  readonly #collect: ReturnType<typeof collectCalls> | undefined;

  constructor(
    {
      timeoutMs = 30_000,
      maxRetries = 3,
      concurrency = 4,
      batchSize = 128,
      collectMs,
      ...options
    }: BertEdgeOptions = {} as BertEdgeOptions,
  ) {
    super();
    const { baseURL, apiKey } = options;
    if (!URL.canParse(baseURL) || !/^https?:/i.test(baseURL)) {
      throw new TypeError(`baseURL is not a URL that begins with http:// or https://: ${baseURL}`);
    }
    if (!/^[ -\xff]+$/.test(apiKey?.trim() ?? "")) throw new TypeError("apiKey is missing, empty or not in Latin-1");
    const numbers = { timeoutMs: Math.ceil(timeoutMs), maxRetries, concurrency, batchSize };
    for (const [name, value] of Object.entries(numbers)) {
      if (!Number.isInteger(value) || value < (name === "maxRetries" ? 0 : 1)) {
        throw new TypeError(`${name} is not valid: ${value}`);
      }
    }
    if (collectMs !== undefined) this.#collect = collectCalls(collectMs, batchSize);
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
    const { signal, onProgress, onError, ...shared } = options;
    const embedList = async (list: readonly string[], choice: EmbedOptions | SkippingOptions) => {
      const { results: embeddings, ...details } = await callAll(embedTask(shared), list, this.#settingsWith(choice));
      return { embeddings, ...details };
    };
    const isAlone = typeof texts !== "string" || signal || onProgress;
    const { failed, ...result } =
      this.#collect && !isAlone
        ? await this.#collect(JSON.stringify(shared), texts, (list) => embedList(list, { ...shared, onError: "skip" }))
        : await embedList(typeof texts === "string" ? [texts] : texts, options);
    return onError === "skip" ? { ...result, failed } : (result as Embeddings);
  }

  /**
   * Embeds texts while they are read, such as the lines of a file. Yields a vector for each, in order. Sends `concurrency` requests
   * at the same time, and holds no more texts than these.
   *
   * @throws a subclass of BertEdgeClientError, the abort reason of `signal`, or the error of reading the texts
   */
  embedMany(
    texts: Iterable<string> | AsyncIterable<string>,
    options: EmbedManyOptions = {},
  ): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined> {
    const { batchSize, concurrency } = this.#settings;
    const { onProgress, ...shared } = options;
    const latencyBudgetMs = shared.latencyBudgetMs ?? this.#settings.latencyBudgetMs ?? "none";
    const embed = (batch: readonly string[], signal: AbortSignal) =>
      this.embed(batch, { ...shared, latencyBudgetMs, signal });
    return embedMany(texts, { batchSize, concurrency, embed }, options);
  }

  protected callList: CallList = async (
    { body, ...task },
    inputs,
    { latencyBudgetMs, tier, signal, ...fields } = {},
  ) => {
    const withFields = { ...task, body: (part: typeof inputs) => snakeCase({ ...body(part), ...fields }) };
    const { failed, ...answer } = await callAll(
      withFields,
      inputs,
      this.#settingsWith({ latencyBudgetMs, tier, signal }),
    );
    // Without `onError: "skip"`, no input fails alone.
    return answer as never;
  };

  /** Returns the settings of a call, whose budget comes before the client's. */
  #settingsWith({ latencyBudgetMs, tier, signal, onProgress, onError }: CallChoice): CallSettings {
    const { fetch: send = fetch, ...settings } = this.#settings;
    return {
      ...{ ...settings, fetch: send, tier, signal, onProgress, onError },
      latencyBudgetMs: latencyBudgetMs ?? settings.latencyBudgetMs,
    };
  }
}

/** Returns the URL with a slash at the end, and without `/v1`, which clients of OpenAI's API need. */
function withoutVersion(baseURL: string): string {
  const url = new URL(baseURL);
  url.pathname = url.pathname.replace(/\/*(\/v1\/*)?$/, "/");
  return url.href;
}

/** The route of `embed`, with the options that are fields of its body. */
const embedTask = ({
  truncate = false,
  poolChunks,
  promptName,
  dimensions,
  model,
}: EmbedOptions | Omit<EmbedOptions, "onError">) => ({
  route: "embed",
  body: (inputs: readonly string[]): EmbedRequest => ({
    ...{ inputs: [...inputs], encoding_format: "base64" },
    ...snakeCase<Partial<EmbedRequest>>({ truncate, poolChunks, promptName, dimensions, model }),
  }),
  read({ embeddings }: EmbedResponse) {
    let dimensions: number | undefined;
    return readVectors(embeddings, (length) => {
      dimensions ??= length;
      return length === dimensions;
    });
  },
});
