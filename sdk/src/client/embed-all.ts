import type { EmbedOptions, PartialEmbeddings, RequestDetails, VectorOptions } from "./embeddings.ts";
import { BertEdgeClientError } from "./errors/bert-edge-client-error.ts";
import { versionChanged } from "./errors/version-changed-error.ts";
import type { RequestSettings } from "./request.ts";
import { type RequestAnswer, requestVectors } from "./request-vectors.ts";
import { splitTexts } from "./split-texts.ts";
import { withRetries } from "./with-retries.ts";

/** Settings of a call, from the options of the client and of the caller. */
export interface CallSettings
  extends Omit<RequestSettings, "signal">,
    VectorOptions,
    Pick<EmbedOptions, "signal" | "onProgress"> {
  readonly onError?: "throw" | "skip" | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly maxRetries: number;
}

/**
 * Embeds texts in batches, several at the same time. The first error stops all requests.
 *
 * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
 */
export async function embedAll(texts: readonly string[], call: CallSettings): Promise<PartialEmbeddings> {
  const failure = new AbortController();
  const settings = { ...call, signal: AbortSignal.any([failure.signal, ...(call.signal ? [call.signal] : [])]) };
  const batches = splitTexts(texts, call.batchSize);
  const embeddings: PartialEmbeddings["embeddings"] = texts.map(() => undefined);
  const failed: PartialEmbeddings["failed"] = [];
  let first: RequestAnswer | undefined;

  /**
   * Embeds a batch in one request. A batch that exceeds the limits of the deployment is halved.
   *
   * @returns the details of the requests that were answered, in the order of their texts
   */
  async function embedBatch(indices: readonly number[]): Promise<RequestDetails[]> {
    try {
      const answer = await withRetries(() => requestVectors(texts, indices, settings), settings);
      first ??= answer;
      if (answer.version !== first.version) {
        throw versionChanged(first.version, answer.version);
      }
      indices.forEach((index, i) => {
        embeddings[index] = answer.vectors[i];
      });
      return [answer.details];
    } catch (error) {
      if (!(error instanceof BertEdgeClientError)) throw error;
      const { code, status, index } = error;
      const half = indices.length >> 1;
      if (half > 0 && (code === "too_many_inputs" || status === 413)) {
        return [...(await embedBatch(indices.slice(0, half))), ...(await embedBatch(indices.slice(half)))];
      }
      if (call.onError !== "skip" || index === undefined) throw error;
      failed.push({ index, error });
      const others = indices.filter((other) => other !== index);
      return others.length > 0 ? embedBatch(others) : [];
    }
  }

  const answered: RequestDetails[][] = [];
  const queue = batches.entries();
  let done = 0;
  async function work(): Promise<void> {
    for (const [number, indices] of queue) {
      answered[number] = await embedBatch(indices);
      done += indices.length;
      call.onProgress?.({ done, total: texts.length });
    }
  }
  try {
    await Promise.all(Array.from({ length: call.concurrency }, work));
  } catch (error) {
    failure.abort(error);
    throw error;
  }

  const requests = answered.flat();
  const only = requests[1] ? undefined : requests[0];
  return {
    embeddings,
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

/** Returns the value that all requests have in common, or `mixed`. */
const common = <T>(values: readonly T[]): T | "mixed" =>
  values.every((value) => value === values[0]) ? (values[0] as T) : "mixed";
