import { BertEdgeError } from "../../../artifact/error.ts";
import { boundedText } from "../../../storage/bounded-text.ts";
import { isRedirect } from "../../../storage/http-response.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { hubRefusal, unavailable, wrongAnswer } from "./hub-error.ts";
import { type HubSettings, isSafe } from "./settings.ts";

/** Maximum number of redirects, as in browsers: https://fetch.spec.whatwg.org/#http-redirect-fetch */
const MAX_REDIRECTS = 20;

interface HubFetchOptions extends Pick<HubSettings, "endpoint" | "token"> {
  /** The requested model, for messages. */
  readonly model: Pick<HubModel, "name" | "revision">;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: TimeLimits | undefined;
}

/**
 * Makes a `fetch` for one model of the Hub:
 * - It requests only https addresses, and http addresses on this machine if the Hub's own address is http. The same holds
 *   for redirects.
 * - It sends the token to the Hub alone, never to a host that a redirect leads to.
 * - Every request has time limits.
 *
 * The promise resolves only for 200 and 206.
 *
 * @throws BertEdgeError `hub_model_missing`, `hub_access_denied`, `hub_unavailable`, `hub_answer_invalid`; the reason of
 *   `signal`
 */
export function hubFetch(options: HubFetchOptions): typeof fetch {
  const { endpoint, token } = options;
  const mayAsk = (url: URL) => isSafe(url) && (url.protocol === "https:" || endpoint.protocol === "http:");
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      if (!mayAsk(url)) throw wrongAnswer(endpoint.host, `leads to ${url.origin}, and only https is allowed`);
      const isHub = url.origin === endpoint.origin;
      const headers = new Headers(init?.headers);
      headers.set("accept-encoding", "identity");
      headers.set("user-agent", "bert-edge");
      headers.delete("authorization");
      if (isHub && token !== undefined) headers.set("authorization", `Bearer ${token.value}`);
      const response = await request(url, headers, options);
      if (response.status === 200 || response.status === 206) return response;
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (!isRedirect(response.status) || location === null) {
        throw hubRefusal(response, url, { ...options, tokenSource: isHub ? token?.source : undefined });
      }
      const next = URL.parse(location, url);
      if (!next) throw wrongAnswer(url.host, "redirects to an address that is not valid");
      url = next;
    }
    throw wrongAnswer(url.host, `redirects more than ${MAX_REDIRECTS} times`);
  };
}

/** Sends one request. Time limits and the caller's signal also end the transfer of the body. */
async function request(url: URL, headers: Headers, options: HubFetchOptions): Promise<Response> {
  const { signal, limits = defaultTimeLimits } = options;
  const deadline = new RequestDeadline(limits);
  const signals = signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal;
  const translated = (error: unknown): unknown => {
    deadline.stop();
    if (signal?.aborted) return signal.reason;
    if (deadline.signal.aborted) return unavailable(url.host, String(deadline.signal.reason));
    return error instanceof BertEdgeError ? error : unavailable(url.host, "cannot be reached", { cause: error });
  };
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: signals });
    if (!response.body) deadline.stop();
    else deadline.begin(lengthOf(response));
    return new Response(response.body && watched(response.body, deadline, translated), response);
  } catch (error) {
    throw translated(error);
  }
}

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** Passes a body on, and tells the deadline about every piece. */
function watched(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  deadline: RequestDeadline,
  translated: (error: unknown) => unknown,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          deadline.arrived();
          if (value) return controller.enqueue(value);
          if (!done) return;
          deadline.stop();
          controller.close();
        } catch (error) {
          controller.error(translated(error));
        }
      },
      cancel(reason) {
        deadline.stop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Maximum bytes of all responses to one API call together. A list of files has about 300 bytes for each file. */
const MAX_BYTES = 32e6;
/** Maximum number of responses to one API call. Each response is a page with up to 1,000 files: https://huggingface.co/docs/hub/api */
const MAX_ANSWERS = 200;

/**
 * Makes a `fetch` for one call of the Hub's API, which can need several requests. Limits the number and the total bytes of
 * the responses, because the caller keeps them in memory.
 *
 * @throws BertEdgeError `hub_answer_invalid`, and the errors of `fetch`
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  { maxBytes = MAX_BYTES, maxAnswers = MAX_ANSWERS } = {},
): typeof globalThis.fetch {
  let [bytes, answers] = [0, 0];
  return async (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    if (++answers > maxAnswers) throw wrongAnswer(host, `sent a list of more than ${maxAnswers} pages`);
    const response = await fetch(input, init);
    const text = await boundedText(response, maxBytes - bytes);
    if (text === undefined) throw wrongAnswer(host, `answered with more than ${maxBytes / 1e6} MB`);
    bytes += Buffer.byteLength(text);
    return new Response(text, { status: response.status, headers: response.headers });
  };
}

/** Time limits of a request. */
export interface TimeLimits {
  /** Maximum time without a byte, in ms. */
  readonly silenceMs: number;
  /** Minimum speed of the transfer of a body, in bytes per second. */
  readonly bytesPerSecond: number;
}

const defaultTimeLimits: TimeLimits = { silenceMs: 30_000, bytesPerSecond: 16 * 1024 };

/** Assumed size of a body whose length is not known, in bytes. Lists of files have less than 1 MB. */
const UNKNOWN_LENGTH = 2 ** 20;

/** Aborts a request that takes too long: before the response, between two pieces of the body, or as a whole. */
class RequestDeadline {
  readonly #limits: TimeLimits;
  readonly #controller = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #whole: NodeJS.Timeout | undefined;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    this.arrived();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the time limit for the whole body. @param length bytes of the body, if known */
  begin(length: number | undefined): void {
    const { silenceMs, bytesPerSecond } = this.#limits;
    const seconds = (length ?? UNKNOWN_LENGTH) / bytesPerSecond;
    this.#whole = this.#abortAfter(silenceMs + 1000 * seconds, `sent less than ${bytesPerSecond} bytes per second`);
  }

  /** Notes that bytes have arrived. */
  arrived(): void {
    clearTimeout(this.#silence);
    const { silenceMs } = this.#limits;
    this.#silence = this.#abortAfter(silenceMs, `sent nothing for ${silenceMs / 1000} s`);
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
  }

  #abortAfter(ms: number, what: string): NodeJS.Timeout {
    // Timers take at most 2³¹ − 1 ms.
    return setTimeout(() => this.#controller.abort(what), Math.min(ms, 2 ** 31 - 1));
  }
}
