import type { AnswerFields } from "../serve/contract/fields.ts";
import {
  BUDGET_HEADER,
  DECISION_HEADER,
  PREDICTED_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  REPORT_HEADER,
  type Reason,
  TIER_HEADER,
} from "../serve/contract/headers.ts";
import type { CallOptions } from "../serve/contract/javascript.ts";
import { abortWith } from "./abort-with.ts";
import type { RequestDetails } from "./embeddings.ts";
import { ConnectionError, TimeoutError } from "./errors.ts";
import { responseError } from "./response-error.ts";

/** Maximum number of characters that are read of the body of an error. */
const MAX_ERROR_LENGTH = 16_384;

/** Maximum time of a timer, in ms. A timer with a longer time fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Settings that all requests of a call share. */
export interface RequestSettings extends Pick<CallOptions, "latencyBudgetMs" | "tier"> {
  /** The deployment's URL, with a slash at the end. */
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Predicted and measured time in ms of the last answer of the edge. The next request reports them to the edge. */
  readonly report: { last?: string };
}

/** A request, and how its answer is read. */
interface Question<Response extends AnswerFields, T> {
  /** Name of the route under `/v1`. */
  readonly route: string;
  readonly body: object;
  /** The request's inputs, as indices in the caller's list. */
  readonly indices: readonly number[];
  /** @throws an error if the answer is not from bert-edge */
  readonly read: (json: Response) => T;
}

/** The details of a request's answer, apart from the number of texts. */
export type ReplyDetails = Omit<RequestDetails, "texts"> & Pick<AnswerFields, "model" | "version">;

/**
 * Sends one request.
 *
 * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
 */
export async function request<Response extends AnswerFields, T>(
  { route, body, indices, read }: Question<Response, T>,
  { url, apiKey, latencyBudgetMs, tier, timeoutMs, fetch: send, signal, report }: RequestSettings,
): Promise<{ result: T; details: ReplyDetails }> {
  const controller = new AbortController();
  const timeout = new Error("timeout");
  const unlink = abortWith(controller, signal);
  const timer = setTimeout(() => controller.abort(timeout), Math.min(timeoutMs, MAX_TIMER_MS));
  const start = Date.now();
  let response: globalThis.Response;
  let received: string;
  try {
    response = await send(new URL(`v1/${route}`, url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(latencyBudgetMs !== undefined && { [BUDGET_HEADER]: String(latencyBudgetMs) }),
        ...(tier && { [TIER_HEADER]: tier }),
        ...(report.last && { [REPORT_HEADER]: report.last }),
      },
      body: JSON.stringify(body),
      // A redirected request would carry texts to another host.
      redirect: "manual",
      signal: controller.signal,
    });
    received = await (response.ok ? response.text() : beginningOf(response));
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (controller.signal.reason === timeout) {
      throw new TimeoutError(`${url} did not answer within ${timeoutMs} ms.`, {
        code: "timeout",
        hint: "Raise timeoutMs, or lower batchSize.",
        cause,
      });
    }
    throw new ConnectionError(`${url} was not reached, or dropped the connection.`, {
      code: "connection",
      hint: "Check baseURL, network and CORS.",
      retryable: true,
      cause,
    });
  } finally {
    clearTimeout(timer);
    unlink();
  }
  // Browsers give a redirect the status 0, and hide where it leads.
  if (!response.ok && response.status < 400) {
    throw new ConnectionError(`${url} redirects requests, and redirects are not followed.`, {
      code: "redirected",
      status: response.status,
      hint: `Set baseURL to the deployment that the redirect leads to${locationOf(response)}.`,
    });
  }
  if (!response.ok) throw responseError(response, received, indices);
  try {
    const json = JSON.parse(received) as Response;
    const answer = { result: read(json), details: detailsOf(json, response.headers) };
    const { tier, predictedMs } = answer.details;
    if (tier === "edge" && predictedMs !== undefined) report.last = `${predictedMs} ${Date.now() - start}`;
    return answer;
  } catch (cause) {
    throw new ConnectionError(`The answer of ${url} is damaged, or not from bert-edge.`, {
      code: "response_invalid",
      status: response.status,
      hint: "Check that baseURL is the URL of a bert-edge deployment, and what `bert-edge check` says about it.",
      cause,
    });
  }
}

/** Reads a body up to `MAX_ERROR_LENGTH`. */
async function beginningOf({ body }: globalThis.Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && text.length < MAX_ERROR_LENGTH) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  // A body with more data would keep the connection open.
  reader?.cancel().catch(() => {});
  return text;
}

function locationOf({ headers }: globalThis.Response): string {
  const location = headers.get("location");
  return location ? ` (${location.slice(0, 200)})` : "";
}

/** @throws an error if the response is not from bert-edge */
function detailsOf({ model, version, tier, usage }: AnswerFields, headers: Headers): ReplyDetails {
  const isNamed = typeof model === "string" && typeof version === "string" && (tier === "edge" || tier === "region");
  if (!isNamed || !Number.isSafeInteger(usage.tokens))
    throw new TypeError("model, version, tier or usage is missing or not valid");
  const milliseconds = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  return {
    model,
    version,
    tier,
    tokens: usage.tokens,
    reason: (headers.get(REASON_HEADER) as Reason | null) ?? undefined,
    predictedMs: milliseconds(PREDICTED_HEADER),
    remainingMs: milliseconds(REMAINING_HEADER),
    requestId: headers.get("x-request-id") ?? undefined,
    decision: headers.get(DECISION_HEADER) ?? undefined,
  };
}
