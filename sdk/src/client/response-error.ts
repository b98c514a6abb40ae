import type { ErrorBody } from "../serve/contract/errors.ts";
import { DECISION_HEADER } from "../serve/contract/headers.ts";
import {
  AuthenticationError,
  type BertEdgeClientError,
  type ErrorDetails,
  InvalidRequestError,
  RateLimitError,
  UnavailableError,
} from "./errors.ts";

/**
 * Turns a response that is not 200 into an error.
 *
 * @param indices the request's inputs, as indices in the caller's list
 */
export function responseError(response: Response, body: string, indices: readonly number[]): BertEdgeClientError {
  const { status, headers } = response;
  const { message, ...details } = serviceError(body, indices) ?? platformError(status, body);
  // With this header, the service says that a retry would fail again.
  const retryable = status === 429 || (status > 499 && headers.get("x-should-retry") !== "false");
  // `retry-after` has seconds or a date. A deployment also sends `retry-after-ms`.
  const retryAfter = String(headers.get("retry-after"));
  const waitMs =
    Number(headers.get("retry-after-ms")) || 1_000 * Number(retryAfter) || Date.parse(retryAfter) - Date.now();
  return new (classOf(status))(message, {
    retryable,
    ...details,
    status,
    retryAfterMs: waitMs > 0 ? waitMs : undefined,
    requestId: headers.get("x-request-id") ?? undefined,
    decision: headers.get(DECISION_HEADER) ?? undefined,
  });
}

type Described = ErrorDetails & { message: string };

/**
 * Reads an error in the format of bert-edge; returns undefined for any other body. The index, also in the message, is that of
 * the text in the caller's list.
 */
function serviceError(body: string, indices: readonly number[]): Described | undefined {
  try {
    const { code, message, hint, index } = (JSON.parse(body) as ErrorBody).error;
    if (typeof code !== "string" || typeof message !== "string") return undefined;
    // An error about the size has no index. The client halves such a batch until the text at fault is alone, with index 0.
    const at = indices[index ?? (code === "body_too_large" || code === "request_too_costly" ? 0 : -1)];
    return {
      code,
      message: at === undefined ? message : message.replace(/^Input \d+/, `Input ${at}`),
      hint,
      index: at,
    };
  } catch {
    return undefined;
  }
}

/** Number of characters at the beginning of an error page that are searched for Cloudflare's error number. */
const MAX_PAGE_LENGTH = 4_096;

/** Describes an error page of the platform, or of a proxy. */
function platformError(status: number, body: string): Described {
  // Cloudflare's own errors: https://developers.cloudflare.com/workers/observability/errors/
  const number = /error\W*(?:code\W*)?(1\d{3})\b/i.exec(body.slice(0, MAX_PAGE_LENGTH).replace(/<[^<>]*>/g, " "))?.[1];
  const overCpuLimit = number === "1102";
  return {
    code: `http_${status}`,
    message: `HTTP ${status}${number ? ` (Cloudflare error ${number})` : ""}, not from bert-edge.`,
    hint: overCpuLimit
      ? "CPU time or memory ran out: lower batchSize, or raise cpu_ms in the wrangler configuration."
      : status === 429
        ? "Lower concurrency, or raise the limit on requests."
        : status > 499
          ? "Check the deployment's log."
          : "Check that baseURL is the URL of a bert-edge deployment.",
    ...(overCpuLimit && { retryable: false }),
  };
}

function classOf(status: number) {
  if (status === 401) return AuthenticationError;
  if (status === 429) return RateLimitError;
  return status < 500 ? InvalidRequestError : UnavailableError;
}
