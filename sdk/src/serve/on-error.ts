import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError, sentenceOf } from "../artifact/error.ts";
import type { ErrorCode } from "../artifact/error-codes.ts";
import { notJson } from "../artifact/parse-json.ts";
import { errorStatus, type HttpErrorCode } from "./contract/errors.ts";
import { DECISION_HEADER } from "./contract/headers.ts";
import { formatDecision } from "./decision-figures.ts";
import { dialectOf, wordingOf } from "./dialects/index.ts";
import { noted } from "./middleware/variables.ts";
import { Refused } from "./refusal.ts";
import type { Dialect, PublicError } from "./routes/dialect.ts";

/** Errors of a model, its files or its store. A retry or another version can help. The operator finds the cause in the log. */
const ofModel = new Set<ErrorCode>([
  "artifact_corrupt",
  "buffer_invalid",
  "engine_failed",
  "engine_mismatch",
  // Token ids of callers are checked earlier, so this error means that the tokenizer does not fit the model.
  "input_invalid",
  "manifest_invalid",
  "memory_full",
  "model_invalid",
  "model_not_published",
  "model_version",
  "object_key_invalid",
  "package_bundled",
  "package_missing",
  "pointer_invalid",
  "session_released",
  "signature_invalid",
  "storage_unavailable",
  "target_missing",
  "tokenizer_invalid",
  "vector_invalid",
  "worker_failed",
]);

/** Errors with HTTP 5xx for which a retry is useless. */
const lasting = new Set<ErrorCode>(["budget_exceeded", "internal", "keys_not_configured", "setting_invalid"]);

/** nginx's status for a request whose client closed the connection. */
const CLIENT_CLOSED_REQUEST = 499;

/** Pause before a retry while no model is loaded, in ms. */
const RETRY_AFTER_MS = 1_000;

/** Returns errors of the HTTP contract unchanged. Logs all other errors and hides their messages. */
function toPublic(error: unknown, c: Context, known?: readonly Dialect[]): PublicError {
  if (error instanceof BertEdgeError && error.code in errorStatus) {
    const { message, advice, index, retryAfterMs } = error;
    const hint = advice ? sentenceOf(advice, wordingOf(c.req.path, known)) : error.hint;
    const pause = error.code === "model_unavailable" ? RETRY_AFTER_MS : undefined;
    return { code: error.code as HttpErrorCode, message, hint, index, retryAfterMs: retryAfterMs ?? pause };
  }
  const trace = noted(c, "trace");
  console.error(trace ? `bert-edge: requestId=${trace.requestId}` : "bert-edge:", error);
  return error instanceof BertEdgeError && ofModel.has(error.code)
    ? {
        code: "model_unavailable",
        ...(error.code === "model_not_published"
          ? {
              message: "The store has no model of the name that this deployment serves.",
              hint: "Its operator publishes it with `bert-edge publish`, or corrects the variable MODEL. The log has the name.",
            }
          : { message: "The model cannot be loaded or run now.", hint: "Try again shortly." }),
        retryAfterMs: error.retryAfterMs ?? RETRY_AFTER_MS,
      }
    : { code: "internal", message: "The service failed unexpectedly.", hint: "See the server log." };
}

/** Returns `request_invalid` if an app's own route could not parse the request body as JSON. Returns other errors unchanged. */
export async function ofBody(error: unknown, { req }: Context): Promise<unknown> {
  if (!(error instanceof SyntaxError) || req.bodyCache.text === undefined) return error;
  const text = await req.text();
  try {
    JSON.parse(text);
    return error;
  } catch (cause) {
    // The route may have failed to parse other JSON than the body.
    if ((cause as SyntaxError).message !== error.message) return error;
    return notJson("request body", cause, { code: "request_invalid", hint: "Send JSON.", quotes: true });
  }
}

/**
 * Answers an error as JSON, in the format of the path's dialect.
 *
 * @param known dialects to choose from. Default: all
 */
export function answerError(error: unknown, c: Context, known?: readonly Dialect[]): Response {
  // The work was stopped because the caller has disconnected. Nobody reads the answer.
  if (c.req.raw.signal.aborted && !(error instanceof BertEdgeError))
    return new Response(null, { status: CLIENT_CLOSED_REQUEST });
  const found = toPublic(error, c, known);
  const { code, retryAfterMs } = found;
  const { status = errorStatus[code], body } = dialectOf(c.req.path, known).writeError(found);
  if (retryAfterMs !== undefined) {
    c.header("retry-after", `${Math.ceil(retryAfterMs / 1_000)}`);
    c.header("retry-after-ms", `${Math.ceil(retryAfterMs)}`);
  }
  const decision = error instanceof Refused ? formatDecision(error.basis) : "";
  if (decision !== "") c.header(DECISION_HEADER, decision);
  // OpenAI's clients retry every 5xx, unless this header forbids it.
  if (lasting.has(code)) c.header("x-should-retry", "false");
  if (status === 401) c.header("www-authenticate", "Bearer");
  return c.json(body, status);
}

/** Wraps thrown values that are not Errors: Hono passes only Errors to `onError`, but onnxruntime throws numbers. */
export const throwErrors: MiddlewareHandler = async function throwErrors(_, next) {
  try {
    await next();
  } catch (thrown) {
    throw thrown instanceof Error ? thrown : new Error("A value that is not an Error was thrown.", { cause: thrown });
  }
};
