import { BertEdgeError } from "../../artifact/error.ts";
import type { JobsBucket } from "./bindings.ts";
import { inTime, piecesOf } from "./in-time.ts";
import type { BulkJob } from "./job.ts";
import { inputKey } from "./keys.ts";

/**
 * Reads bytes of a job's input.
 *
 * @param range first byte, and number of bytes; without it, all that follow
 * @throws BertEdgeError `job_changed` when the input is not the one the job was started with
 */
export async function* openInput(
  bucket: JobsBucket,
  { name, input }: BulkJob,
  range: { offset: number; length?: number },
): AsyncGenerator<Uint8Array> {
  // Buckets refuse a range that begins at the end.
  if (range.offset >= input.bytes) return;
  const key = inputKey(name);
  const found = await inTime(bucket.get(key, { range }), key);
  if (found?.etag !== input.etag) {
    await found?.body.cancel().catch(() => {});
    throw new BertEdgeError("job_changed", `${key} is not the input that the job ${name} was started with.`, {
      hint: "Put the input back, or start a job of another name.",
    });
  }
  yield* piecesOf(found.body, key);
}
