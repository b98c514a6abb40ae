import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { BertEdgeError } from "../../artifact/error.ts";
import { type ErrorBody, errorStatus, type HttpErrorCode, type OpenAiErrorBody } from "../contract/errors.ts";

/** Faults of the deployment that pass: the caller should try again, the operator finds the rest in the log. */
const unavailable = new Set([
  "artifact_corrupt",
  "engine_failed",
  "manifest_invalid",
  "memory_full",
  "model_invalid",
  "model_not_published",
  "model_version",
  "pointer_invalid",
  "session_released",
  "storage_unavailable",
  "target_missing",
]);

interface PublicError {
  code: HttpErrorCode;
  message: string;
  hint: string | undefined;
}

/** Errors whose codes are in the contract are shown as they are; of all others only that they happened. */
function toPublic(error: unknown): PublicError {
  if (error instanceof BertEdgeError && error.code in errorStatus) {
    return { code: error.code as HttpErrorCode, message: error.message, hint: error.hint };
  }
  console.error("bert-edge:", error);
  return error instanceof BertEdgeError && unavailable.has(error.code)
    ? { code: "model_unavailable", message: "The model cannot be loaded now.", hint: "Try again shortly." }
    : {
        code: "internal",
        message: "Something went wrong here.",
        hint: "Try again; the operator finds more in the log.",
      };
}

export type Dialect = "own" | "openai";

/** Answers an error in the dialect of its route. */
export function errorResponse(c: Context, error: unknown, dialect: Dialect): Response {
  const { code, message, hint } = toPublic(error);
  const status: ContentfulStatusCode = errorStatus[code];
  if (status === 503) c.header("retry-after", "1");
  if (status === 401) c.header("www-authenticate", "Bearer");
  if (dialect === "own") {
    return c.json<ErrorBody>({ error: { code, message, ...(hint !== undefined && { hint }) } }, status);
  }
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return c.json<OpenAiErrorBody>(
    { error: { code, message: hint ? `${message} ${hint}` : message, type, param: null } },
    status,
  );
}
