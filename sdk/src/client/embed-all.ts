import type { EmbedProgress, PartialEmbeddings, RequestDetails } from "./embeddings.ts";
import { BertEdgeClientError } from "./errors/bert-edge-client-error.ts";
import { VersionChangedError } from "./errors/version-changed-error.ts";
import { type RequestAnswer, type RequestSettings, requestVectors } from "./request.ts";
import { splitTexts } from "./split-texts.ts";
import { withRetries } from "./with-retries.ts";

export interface CallSettings extends Omit<RequestSettings, "signal"> {
  readonly signal: AbortSignal | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly maxRetries: number;
  /** Whether a text that the service refuses fails alone. */
  readonly skip: boolean;
  readonly onProgress: ((progress: EmbedProgress) => void) | undefined;
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
  const embeddings = new Array<Float32Array<ArrayBuffer> | undefined>(texts.length).fill(undefined);
  const failed: PartialEmbeddings["failed"] = [];
  let first: RequestAnswer | undefined;

  function keep(answer: RequestAnswer, indices: readonly number[]): void {
    first ??= answer;
    if (answer.version !== first.version) {
      throw new VersionChangedError(`The model changed from ${first.version} to ${answer.version} during the call.`, {
        code: "version_changed",
        hint: "Embed all texts again: versions cannot be compared.",
      });
    }
    indices.forEach((index, i) => {
      embeddings[index] = answer.vectors[i];
    });
  }

  /** Returns the details of the request that was answered; undefined if all texts of the batch were skipped. */
  async function embedBatch(indices: readonly number[]): Promise<RequestDetails | undefined> {
    try {
      const answer = await withRetries(() => requestVectors(texts, indices, settings), settings);
      keep(answer, indices);
      return answer.details;
    } catch (error) {
      if (!(call.skip && error instanceof BertEdgeClientError && error.index !== undefined)) throw error;
      const { index } = error;
      failed.push({ index, error });
      const others = indices.filter((other) => other !== index);
      return others.length > 0 ? embedBatch(others) : undefined;
    }
  }

  const answered: (RequestDetails | undefined)[] = [];
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

  const requests = answered.filter((details) => details !== undefined);
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
