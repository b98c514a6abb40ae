import type { HttpErrorCode } from "../serve/contract/errors.ts";
import type { AnswerFields } from "../serve/contract/fields.ts";
import type { CallOptions } from "../serve/contract/javascript.ts";
import { abortWith } from "./abort-with.ts";
import type { EmbedOptions, PartialEmbeddings, RequestDetails } from "./embeddings.ts";
import { BertEdgeClientError, versionChanged } from "./errors.ts";
import { type ReplyDetails, type RequestSettings, request } from "./request.ts";
import { splitInputs } from "./split-inputs.ts";
import { withRetries } from "./with-retries.ts";

/** A route that has a result for each input of a list. */
export interface ListTask<Input, Response extends AnswerFields, Result> {
  /** Name of the route under `/v1`. */
  readonly route: string;
  /** Makes the body of a request. */
  body(inputs: readonly Input[]): object;
  /**
   * Returns a result for each input of a request.
   *
   * @throws an error if the answer is not from bert-edge
   */
  read(json: Response, inputs: readonly Input[]): readonly Result[];
}

/** Options of a call that its body does not contain. */
export interface CallChoice extends Omit<CallOptions, "model"> {
  readonly onProgress?: EmbedOptions["onProgress"] | undefined;
  readonly onError?: "throw" | "skip" | undefined;
}

/** Settings of a call, from the options of the client and of the caller. */
export interface CallSettings extends Omit<RequestSettings, keyof CallChoice>, CallChoice {
  readonly batchSize: number;
  readonly concurrency: number;
  readonly maxRetries: number;
}

/** The results of a call, in the order of the inputs; undefined for inputs that failed. */
export interface AllResults<Result> extends Omit<PartialEmbeddings, "embeddings"> {
  readonly results: (Result | undefined)[];
}

/**
 * Sends inputs in batches, several at the same time. The first error stops all requests.
 *
 * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
 */
export async function callAll<Input, Response extends AnswerFields, Result>(
  { route, body, read }: ListTask<Input, Response, Result>,
  inputs: readonly Input[],
  call: CallSettings,
): Promise<AllResults<Result>> {
  if (!Array.isArray(inputs)) throw new TypeError(`${route} needs a text or an array of texts, not ${typeof inputs}.`);
  const failure = new AbortController();
  const unlink = abortWith(failure, call.signal);
  const batches = splitInputs(inputs, call.batchSize);
  const settings = { ...call, signal: failure.signal };
  const results: (Result | undefined)[] = inputs.map(() => undefined);
  const failed: PartialEmbeddings["failed"] = [];
  let first: ReplyDetails | undefined;
  /** Maximum number of inputs of a request. Falls when a request is too large but both its halves are answered; later it grows again. */
  let most = call.batchSize;
  /** Number of answered requests of `most` inputs since `most` changed. */
  let fitted = 0;

  /**
   * Sends a batch in one request. A batch that exceeds the limits of the deployment, such as its CPU limit, is halved.
   *
   * @returns the details of the requests that were answered, in the order of their inputs
   */
  async function sendBatch(indices: readonly number[]): Promise<RequestDetails[]> {
    if (indices.length > most) return sendHalves(indices);
    const part = indices.map((index) => inputs[index] as Input);
    const question = {
      ...{ route, body: body(part), indices },
      read(json: Response) {
        const found = read(json, part);
        if (found.length !== part.length) throw new TypeError(`${found.length} results for ${part.length} inputs`);
        return found;
      },
    };
    try {
      // The deployment's default budget is meant for one request. A call that needs several requests has no budget by default.
      const latencyBudgetMs = call.latencyBudgetMs ?? (indices.length < inputs.length ? "none" : undefined);
      const { result, details } = await withRetries(
        () => request(question, { ...settings, latencyBudgetMs }),
        settings,
      );
      if (indices.length === most && ++fitted === GROW_AFTER) grow();
      const { model, version, ...rest } = details;
      first ??= details;
      if (version !== first.version) throw versionChanged(first.version, version);
      indices.forEach((index, i) => {
        results[index] = result[i];
      });
      return [{ texts: indices.length, ...rest }];
    } catch (error) {
      if (!(error instanceof BertEdgeClientError)) throw error;
      const { code, status, index } = error;
      if (indices.length > 1 && (tooLarge.has(code) || status === 413)) {
        const requests = await sendHalves(indices);
        if (requests.length === 2 && indices.length <= most) {
          most = indices.length - 1;
          fitted = 0;
        }
        return requests;
      }
      if (call.onError !== "skip" || index === undefined) throw error;
      failed.push({ index, error });
      const others = indices.filter((other) => other !== index);
      return others.length > 0 ? sendBatch(others) : [];
    }
  }

  function grow(): void {
    most = Math.min(2 * most, call.batchSize);
    fitted = 0;
  }

  async function sendHalves(indices: readonly number[]): Promise<RequestDetails[]> {
    const half = indices.length >> 1;
    return [...(await sendBatch(indices.slice(0, half))), ...(await sendBatch(indices.slice(half)))];
  }

  const answered: RequestDetails[][] = [];
  const queue = batches.entries();
  let done = 0;
  async function work(): Promise<void> {
    for (const [number, indices] of queue) {
      answered[number] = await sendBatch(indices);
      done += indices.length;
      call.onProgress?.({ done, total: inputs.length });
    }
  }
  try {
    await Promise.all(Array.from({ length: call.concurrency }, work));
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    unlink();
  }

  const requests = answered.flat();
  const only = requests[1] ? undefined : requests[0];
  return {
    results,
    ...(first && {
      model: first.model,
      version: first.version,
      tier: common(requests.map(({ tier }) => tier)),
      reason: common(requests.map(({ reason }) => reason)),
    }),
    predictedMs: only?.predictedMs,
    remainingMs: only?.remainingMs,
    tokens: requests.reduce((sum, { tokens }) => sum + tokens, 0),
    requests,
    failed: failed.sort((a, b) => a.index - b.index),
  };
}

/** Number of answered requests after which larger ones are tried again: a few long texts must not keep all later requests small. */
const GROW_AFTER = 8;

/** Error codes of requests that are too large, so that a smaller part of the request may be answered. */
const tooLarge: ReadonlySet<string> = new Set<HttpErrorCode>(["too_many_inputs", "request_too_costly"]);

/** Returns the value that all requests have in common, or `mixed`. */
const common = <T>(values: readonly T[]): T | "mixed" =>
  values.every((value) => value === values[0]) ? (values[0] as T) : "mixed";
