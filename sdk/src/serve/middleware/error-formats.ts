import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { CohereErrorBody } from "../contract/cohere.ts";
import type { DialectName } from "../contract/dialects.ts";
import { type ErrorBody, errorStatus, type HttpErrorCode, type OpenAiErrorBody } from "../contract/errors.ts";
import type { HuggingFaceErrorBody } from "../contract/hugging-face.ts";
import type { TeiErrorBody } from "../contract/tei.ts";

/** The part of an error that callers see. */
export interface PublicError {
  readonly code: HttpErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly index?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

interface ErrorAnswer {
  readonly status: ContentfulStatusCode;
  readonly body: ErrorBody | OpenAiErrorBody | TeiErrorBody | CohereErrorBody | HuggingFaceErrorBody;
}

/** Hints of OpenAI's route, where they differ: its requests have no `truncate`. */
const openAiHints: Partial<Record<HttpErrorCode, string>> = {
  input_too_long: "Shorten the text, or send it to /v1/embed with `truncate` set to true to embed only its beginning.",
};

const inOneSentence = ({ message, hint }: Pick<PublicError, "message" | "hint">): string =>
  hint === undefined ? message : `${message} ${hint}`;

/** How each dialect writes errors. */
export const errorFormats: Readonly<Record<DialectName, (error: PublicError) => ErrorAnswer>> = {
  own: ({ code, message, hint, index }) => ({
    status: errorStatus[code],
    body: { error: { code, message, ...(hint !== undefined && { hint }), ...(index !== undefined && { index }) } },
  }),
  openai({ code, message, hint }) {
    const status = errorStatus[code];
    const type = status < 500 ? "invalid_request_error" : "server_error";
    return {
      status,
      body: {
        error: { code, message: inOneSentence({ message, hint: openAiHints[code] ?? hint }), type, param: null },
      },
    };
  },
  tei(error) {
    const { status, type } = teiFormat(error.code);
    return { status, body: { error: inOneSentence(error), error_type: type } };
  },
  cohere: (error) => ({ status: errorStatus[error.code], body: { message: inOneSentence(error) } }),
  "hugging-face": (error) => ({ status: errorStatus[error.code], body: { error: inOneSentence(error) } }),
};

/** Returns the status and the type that text-embeddings-inference gives to an error. */
function teiFormat(code: HttpErrorCode): { status: ContentfulStatusCode; type: TeiErrorBody["error_type"] } {
  if (code === "overloaded") return { status: 429, type: "Overloaded" };
  if (code === "input_empty") return { status: 400, type: "Empty" };
  if (code === "internal") return { status: 424, type: "Backend" };
  if (code === "input_too_long") return { status: 422, type: "Tokenizer" };
  const status = errorStatus[code];
  if (status === 400) return { status: 422, type: "Validation" };
  return { status, type: status < 500 ? "Validation" : "Unhealthy" };
}
