import { withDeadline } from "../../artifact/with-deadline.ts";
import { storageError } from "../../storage/storage-error.ts";
import type { JobsBucket } from "./bindings.ts";

/** Time limit of one call of a bucket or a queue, in ms: the same as for reading models. */
const CALL_MS = 30_000;

/**
 * Waits for a call of a bucket or a queue.
 *
 * @param what key or queue, for messages
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

/** Returns the text of an object; undefined if there is none. */
export async function textOf(bucket: JobsBucket, key: string): Promise<string | undefined> {
  const found = await inTime(bucket.get(key), key);
  return found ? inTime(new Response(found.body).text(), key) : undefined;
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
