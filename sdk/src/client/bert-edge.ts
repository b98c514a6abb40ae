import type { CallOptions, TaskMethods } from "../serve/contract/javascript.ts";
import { snakeCase } from "../serve/contract/javascript.ts";
import { type CallChoice, type CallSettings, callAll } from "./call-all.ts";
import { collectCalls } from "./collect-calls.ts";
import { type EmbedManyOptions, embedMany } from "./embed-many.ts";
import type { CallDetails, Embeddings, EmbedOptions, PartialEmbeddings, SkippingOptions } from "./embeddings.ts";
import { httpTasks } from "./http-tasks.ts";

export interface BertEdgeOptions {
  /** The URL of the deployment, for example `https://bert.example.workers.dev`. It may end in `/v1`. */
  baseURL: string;
  /** One of the deployment's API keys. It is sent in an HTTP header, so it has only characters of Latin-1. */
  apiKey: string;
  /** Latency budget of calls that set none, in ms, or `none`. Default: the deployment's budget, which most deployments do not have. */
  latencyBudgetMs?: number | "none";
  /** Timeout of a request, in ms. A retry has the same timeout again. Default 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries of a request after HTTP 429, temporary HTTP 5xx, and dropped connections. Default 3. */
  maxRetries?: number;
  /** Maximum number of requests of a call at the same time. Default 4. */
  concurrency?: number;
  /** Maximum number of texts per request. Requests that exceed the limits of the deployment are halved. Default 128. */
  batchSize?: number;
  /**
   * Time in ms for which a call of `embed` for one text waits for other calls with the same options, to share a request with them.
   * `tokens` and `requests` of its result then cover all these calls. Default: calls do not wait.
   */
  collectMs?: number;
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch;
}

type Methods = TaskMethods<CallOptions, CallDetails>;

/** Options of the client that no call has. In a body, deployments would ignore them as fields of no route. */
const ofClient = ["baseURL", "apiKey", "timeoutMs", "maxRetries", "concurrency", "batchSize", "collectMs", "fetch"];

export interface BertEdge extends Omit<Methods, "embed"> {}

/**
 * Client of a bert-edge deployment, with a method for each task. The methods split lists into requests, and throw a subclass of
 * BertEdgeClientError, or the abort reason of `signal`.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the static block adds the methods.
export class BertEdge implements Pick<Methods, "embed"> {
  static {
    for (const name of Object.keys(httpTasks) as (keyof TaskMethods)[]) {
      if (name === "embed") continue;
      const { length } = httpTasks[name];
      const value = function call(this: BertEdge, ...args: unknown[]) {
        return this.#call(name, args.slice(0, length), args[length] as CallChoice | undefined);
      };
      Object.defineProperty(BertEdge.prototype, name, { value });
    }
  }

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
    const { baseURL, apiKey } = options;
    if (!URL.canParse(baseURL) || !/^https?:/i.test(baseURL)) {
      throw new TypeError(`baseURL is not a URL that begins with http:// or https://: ${baseURL}`);
    }
    if (!/^[ -\xff]+$/.test(apiKey?.trim() ?? "")) throw new TypeError("apiKey is missing, empty or not in Latin-1");
    const numbers = { timeoutMs: Math.ceil(timeoutMs), maxRetries, concurrency, batchSize };
    for (const [name, value] of Object.entries(numbers)) {
      if (!Number.isInteger(value) || value < (name === "maxRetries" ? 0 : 1)) {
        throw new TypeError(
          `${name} must be a whole number of at least ${name === "maxRetries" ? 0 : 1}, but is ${value}`,
        );
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
    if (!this.#collect || typeof texts !== "string" || signal || onProgress)
      return this.#call("embed", [texts], options);
    const skipping = { ...shared, onError: "skip" as const };
    const embedList = (list: readonly string[]) => this.embed(list, skipping);
    const { failed, ...result } = await this.#collect(JSON.stringify(shared), texts, embedList);
    return onError === "skip" ? { ...result, failed } : (result as Embeddings);
  }

  /**
   * Embeds texts while they are read, such as the lines of a file. Yields a vector for each, in order. Sends `concurrency` requests
   * at the same time, and holds only the texts of these requests in memory.
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

  /** Splits the list of a task into requests, and joins their results. */
  async #call<Result>(
    name: keyof TaskMethods,
    given: readonly unknown[],
    { latencyBudgetMs, tier, signal, onProgress, onError, ...fields }: CallChoice = {},
  ): Promise<Result> {
    const misplaced = ofClient.find((option) => option in fields);
    if (misplaced) throw new TypeError(`${misplaced} is an option of new BertEdge(), not of ${name}.`);
    const task = httpTasks[name](...(given as never[]));
    const { results, failed, ...details } = await callAll(
      {
        route: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
        body: (part) => snakeCase({ ...task.body(part), ...fields }),
        read: (json, part) => task.read(json as never, part as never),
      },
      task.items,
      this.#settingsWith({ latencyBudgetMs, tier, signal, onProgress, onError }),
    );
    return { ...task.result(results, fields as never), ...details, ...(onError === "skip" && { failed }) } as Result;
  }

  /** Returns the settings of a call. The call's own latency budget replaces the client's. */
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
