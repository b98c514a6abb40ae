import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import { textUpTo } from "../../storage/bounded-text.ts";
import { storageError } from "../../storage/storage-error.ts";

/** Metadata of an object in a jobs bucket. */
export interface JobsObject {
  readonly key: string;
  /** Size in bytes. */
  readonly size: number;
  readonly etag: string;
  readonly customMetadata?: Readonly<Record<string, string>> | undefined;
}

/** The part of a Workers R2 bucket binding that jobs use. `r2Store` reads models from it too. */
export interface JobsBucket {
  get(
    key: string,
    options?: { range: { offset: number; length?: number } },
  ): Promise<(JobsObject & { body: ReadableStream<Uint8Array> }) | null>;
  head(key: string): Promise<JobsObject | null>;
  /** Resolves to null if the condition `onlyIf` does not hold. */
  put(
    key: string,
    value: string,
    options: {
      httpMetadata: { contentType: string };
      customMetadata?: Record<string, string>;
      onlyIf?: { etagDoesNotMatch: "*" };
    },
  ): Promise<unknown>;
  list(options: {
    prefix: string;
    startAfter?: string;
    cursor?: string;
    include?: "customMetadata"[];
  }): Promise<{ objects: JobsObject[]; truncated: boolean; cursor?: string }>;
}

/** The part of a Workers queue binding that jobs use. */
export interface JobsQueue {
  send(body: unknown, options?: { contentType?: "json"; delaySeconds?: number }): Promise<unknown>;
  sendBatch(messages: readonly { body: unknown; contentType?: "json" }[]): Promise<unknown>;
}

/** The part of a batch of queue messages that jobs use. */
export interface JobsBatch {
  readonly messages: readonly {
    readonly body: unknown;
    /** Number of deliveries of this message, including the current one. */
    readonly attempts: number;
    ack(): void;
    retry(options?: { delaySeconds?: number }): void;
  }[];
}

/** The place of jobs: a bucket for their inputs and results, and a queue for the work that is left. */
export interface JobsPlace {
  readonly bucket: JobsBucket;
  readonly queue: JobsQueue;
}

/** Time limit of one call of a bucket or a queue, in ms: the same as for reading models. */
const CALL_MS = 30_000;

/**
 * Waits for a call of a bucket or a queue. `what` names it in messages.
 *
 * @throws BertEdgeError `storage_unavailable` when the call fails or takes too long
 */
export const inTime = <T>(call: Promise<T>, what: string): Promise<T> =>
  withDeadline(
    call.catch((cause: unknown) => {
      throw storageError("jobs", what, String(cause), { cause });
    }),
    CALL_MS,
    () => storageError("jobs", what, `no answer within ${CALL_MS} ms`),
  );

/** Maximum bytes of an object that describes a job. Real ones have less than a thousand. */
const MAX_RECORD_BYTES = 65_536;

/**
 * Reads a JSON object of the bucket; undefined if there is none.
 *
 * @throws BertEdgeError `storage_unavailable`, `job_changed` when the object has another form, or is too large
 */
export async function readJsonOf<S extends v.GenericSchema>(
  bucket: JobsBucket,
  key: string,
  schema: S,
  what: string,
): Promise<v.InferOutput<S> | undefined> {
  const found = await inTime(bucket.get(key), key);
  if (!found) return undefined;
  const hint = "Start a job of another name.";
  const text = await inTime(textUpTo(found.body, MAX_RECORD_BYTES), key);
  if (text === undefined) {
    const sizes = `${found.size} bytes, but only up to ${MAX_RECORD_BYTES} are read`;
    throw new BertEdgeError("job_changed", `The ${what} ${key} has ${sizes}.`, { hint });
  }
  return parseJson(schema, text, { code: "job_changed", what: `${what} ${key}`, hint });
}

/**
 * Writes a JSON object to the bucket.
 *
 * @param isNew whether to write the object only if none exists under this key
 * @returns whether the object was written
 */
export async function writeJson(bucket: JobsBucket, key: string, value: object, isNew = false): Promise<boolean> {
  const httpMetadata = { contentType: "application/json" };
  const condition = isNew && { onlyIf: { etagDoesNotMatch: "*" as const } };
  return (await inTime(bucket.put(key, JSON.stringify(value), { httpMetadata, ...condition }), key)) !== null;
}

/** Reads a stream piece by piece. Cancels it when the caller stops. */
export async function* piecesOf(stream: ReadableStream<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), key);
      isDone = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isDone) await reader.cancel().catch(() => {});
  }
}
