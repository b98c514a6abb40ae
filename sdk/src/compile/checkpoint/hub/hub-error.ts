import { setTimeout } from "node:timers/promises";
import { BertEdgeError, type BertEdgeErrorDetails, retryAfterOf } from "../../../artifact/error.ts";
import type { ErrorCode } from "../../../artifact/error-codes.ts";
import type { HubModel } from "../../../storage/hub-model.ts";

const error = (code: ErrorCode, message: string, details?: BertEdgeErrorDetails) =>
  new BertEdgeError(code, message, details);

/** Makes the error for a server that cannot be reached, is too slow or is overloaded. Another attempt may succeed. */
export const unavailable = (host: string, what: string, { cause, retryAfterMs }: BertEdgeErrorDetails = {}) =>
  error("hub_unavailable", `${host} ${what}.`, {
    hint:
      `${retryAfterMs === undefined ? "Run the command again later" : `Run the command again in ${Math.ceil(retryAfterMs / 1000)} s`}: ` +
      "what was downloaded is kept. Behind a proxy, set HTTPS_PROXY and NODE_USE_ENV_PROXY=1. Instead of a name, you can " +
      "also give a folder with the model.",
    cause,
    retryAfterMs,
  });

/** Makes the error for an answer that breaks the protocol, or that is not safe to follow. */
export const wrongAnswer = (host: string, what: string, cause?: unknown) =>
  error("hub_answer_invalid", `${host} ${what}.`, {
    hint: "Check HF_ENDPOINT and your proxy: this is not how the Hugging Face Hub answers.",
    cause,
  });

/** Model, Hub and token of a request, for the messages of errors. */
interface Asked {
  readonly model: Pick<HubModel, "name" | "revision">;
  readonly endpoint: URL;
  /** Variable or file with the access token; undefined if the request had none. */
  readonly tokenSource: string | undefined;
}

/** Makes the error for a response other than 200 and 206. */
export function hubRefusal(response: Response, url: URL, asked: Asked): BertEdgeError {
  const { status, headers } = response;
  const { name, revision } = asked.model;
  const page = new URL(name, asked.endpoint).href;
  const what = `answered HTTP ${status}${requestOf(headers)}`;
  if (status === 429 || status >= 500) {
    return unavailable(url.host, what, { retryAfterMs: waitOf(headers) });
  }
  // A link to the storage behind the Hub works for a limited time. Another attempt gets a new link, and may succeed.
  if (url.origin !== asked.endpoint.origin) return unavailable(url.host, what);
  // https://huggingface.co/docs/huggingface_hub/package_reference/utilities describes the values of this header.
  const reason = headers.get("x-error-code");
  if (reason === "GatedRepo") {
    return error("hub_access_denied", `${name} is gated: its authors decide who may download it.`, {
      hint: `Ask for access on ${page}, and set HF_TOKEN to a token of the account that has it, or run \`hf auth login\`.`,
    });
  }
  if (status === 401 && asked.tokenSource !== undefined) {
    return error("hub_access_denied", `${url.host} does not accept the token in ${asked.tokenSource}.`, {
      hint: `Make a new token on ${new URL("settings/tokens", asked.endpoint).href}, or remove ${asked.tokenSource}: public models need none.`,
    });
  }
  if (status === 403) {
    return error("hub_access_denied", `${url.host} does not let you download ${name}.`, {
      hint: "Set HF_TOKEN to a token that may read this model.",
    });
  }
  if (reason === "RevisionNotFound") {
    return error("hub_model_missing", `${name} has no revision ${revision}.`, {
      hint: `It may have been renamed or removed. Choose a branch, tag or commit on ${page}/tree/main, or leave out @${revision}.`,
    });
  }
  if (reason === "EntryNotFound") {
    return error("hub_model_missing", `${name} has no file ${decodeURIComponent(url.pathname)}.`, {
      hint: `Its files are listed on ${page}/tree/${revision}.`,
    });
  }
  // Without a token, the Hub answers 401 for missing models too, so that nobody can find out the names of private models.
  if (status === 401 || status === 404) {
    return error("hub_model_missing", `There is no model ${name} on ${asked.endpoint.host}, or it is private.`, {
      hint:
        asked.tokenSource === undefined
          ? "Check the name. For a private model, set HF_TOKEN to a token that may read it, or run `hf auth login`."
          : `Check the name. Your token in ${asked.tokenSource} may lack access to this model.`,
    });
  }
  return wrongAnswer(url.host, what);
}

/** Returns the Hub's id of the request as a part of a message, for the Hub's support team; empty if the response has no id. */
const requestOf = (headers: Headers): string => {
  const id = headers.get("x-request-id") ?? "";
  return /^[\w=;.:-]{1,100}$/.test(id) ? ` (request ${id})` : "";
};

/**
 * Returns how long to wait before the next request, in ms; undefined if the response does not say. Reads `Retry-After`, or
 * else the Hub's `RateLimit`, such as `"api";r=0;t=55` (https://huggingface.co/docs/hub/rate-limits).
 */
export function waitOf(headers: Headers, now = Date.now()): number | undefined {
  const [, seconds] = /;\s*t=(\d{1,9})/.exec(headers.get("ratelimit") ?? "") ?? [];
  return retryAfterOf(headers, now) ?? (seconds === undefined ? undefined : 1000 * Number(seconds));
}

/** Waits between attempts, in ms, if the server does not say how long to wait. */
const WAITS = [500, 1_000, 2_000, 4_000];

/** Maximum wait that a server may ask for, in ms. If it asks for more, the command fails, and its hint says how long to wait. */
const LONGEST_WAIT = 60_000;

export interface RetryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Waits before the next attempt. Default: a timer. */
  readonly wait?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

const sleep = (ms: number, signal: AbortSignal | undefined) => setTimeout(ms, undefined, signal ? { signal } : {});

/**
 * Runs `work` until it succeeds. Tries again at most four times in a row after `hub_unavailable`. An attempt that makes
 * progress starts the count again.
 *
 * @param progressed returns whether the last attempt made progress
 * @throws the last error of `work`
 */
export async function untilAvailable<T>(
  work: () => Promise<T>,
  { signal, wait = sleep }: RetryOptions,
  progressed: () => boolean = () => false,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BertEdgeError) || error.code !== "hub_unavailable") throw error;
      if (progressed()) failures = 0;
      const ms = error.retryAfterMs ?? WAITS[failures];
      if (ms === undefined || failures >= WAITS.length || ms > LONGEST_WAIT) throw error;
      await wait(ms, signal);
    }
  }
}
