import { decodeFloats } from "../serve/contract/base64.ts";
import type { EmbedRequest, EmbedResponse } from "../serve/contract/embed.ts";
import type {
  BUDGET_HEADER,
  PREDICTED_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  REPORT_HEADER,
  Reason,
} from "../serve/contract/headers.ts";
import type { RequestDetails } from "./embeddings.ts";
import { ConnectionError } from "./errors/connection-error.ts";
import { TimeoutError } from "./errors/timeout-error.ts";
import { responseError } from "./response-error.ts";

// Only types are imported from the contract, to keep the bundle small. The types check that each name equals the name
// in the contract.
const budgetHeader: typeof BUDGET_HEADER = "x-latency-budget-ms";
const reasonHeader: typeof REASON_HEADER = "x-bert-edge-reason";
const predictedHeader: typeof PREDICTED_HEADER = "x-bert-edge-predicted-ms";
const reportHeader: typeof REPORT_HEADER = "x-bert-edge-report";
const remainingHeader: typeof REMAINING_HEADER = "x-latency-budget-remaining-ms";

/** Settings that all requests of a call share. */
export interface RequestSettings {
  /** The deployment's URL, with a slash at the end. */
  readonly url: string;
  readonly apiKey: string;
  readonly latencyBudgetMs?: number | undefined;
  readonly truncate?: boolean;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** The times of the last answer of the edge. The next request tells the edge about it. */
  readonly report: { last?: string };
}

export interface RequestAnswer {
  readonly vectors: Float32Array<ArrayBuffer>[];
  readonly model: string;
  readonly version: string;
  readonly details: RequestDetails;
}

/**
 * Sends one request.
 *
 * @param indices the request's texts, as indices in `texts`
 * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
 */
export async function requestVectors(
  texts: readonly string[],
  indices: readonly number[],
  { url, apiKey, latencyBudgetMs, truncate = false, timeoutMs, fetch: send, signal, report }: RequestSettings,
): Promise<RequestAnswer> {
  const inputs = indices.map((index) => texts[index] as string);
  const body: EmbedRequest = { inputs, truncate, encoding_format: "base64" };
  const timeout = AbortSignal.timeout(timeoutMs);
  const start = Date.now();
  let response: Response;
  let received: string;
  try {
    response = await send(new URL("v1/embed", url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(latencyBudgetMs !== undefined && { [budgetHeader]: String(latencyBudgetMs) }),
        ...(report.last && { [reportHeader]: report.last }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, timeout]),
    });
    received = await response.text();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (timeout.aborted) {
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
  }
  if (!response.ok) throw responseError(response, received, indices);
  try {
    const answer = readAnswer(JSON.parse(received) as EmbedResponse, response.headers, indices.length);
    const { tier, predictedMs } = answer.details;
    if (tier === "edge" && predictedMs !== undefined) report.last = `${predictedMs} ${Date.now() - start}`;
    return answer;
  } catch (cause) {
    throw new ConnectionError(`The answer of ${url} is not from bert-edge.`, {
      code: "response_invalid",
      status: response.status,
      hint: "Check that baseURL is the URL of a bert-edge deployment.",
      cause,
    });
  }
}

/** @throws an error if the response is not from bert-edge */
function readAnswer(json: EmbedResponse, headers: Headers, texts: number): RequestAnswer {
  const { embeddings, model, version, tier, usage } = json;
  const vectors = (embeddings as string[]).map(decodeFloats);
  if (vectors.length !== texts) throw new TypeError("Wrong number of vectors");
  const milliseconds = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  const details = {
    texts,
    tokens: usage.tokens,
    tier,
    reason: (headers.get(reasonHeader) as Reason | null) ?? undefined,
    predictedMs: milliseconds(predictedHeader),
    remainingMs: milliseconds(remainingHeader),
  };
  return { vectors, model, version, details };
}
