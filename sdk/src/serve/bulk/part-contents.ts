import { storageError } from "../../storage/storage-error.ts";
import type { JobsBucket } from "./bindings.ts";
import { finishedParts } from "./finished-parts.ts";
import { inTime, piecesOf } from "./in-time.ts";
import type { BulkJob } from "./job.ts";
import { partKey, rejectedKey } from "./keys.ts";

/**
 * Streams the results of a complete job in order, or the records that were set aside. Reads one object at a time. The stream
 * fails if an object is missing.
 *
 * @param parts number of the job's parts
 */
export function partContents(
  bucket: JobsBucket,
  job: BulkJob,
  { kind, parts }: { kind: "results" | "rejected"; parts: number },
): ReadableStream<Uint8Array> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let next = 0;
    for await (const { part, counts } of finishedParts(bucket, job)) {
      if (part !== next) break;
      next++;
      if (kind === "rejected" && counts.rejected === 0) continue;
      const key = (kind === "results" ? partKey : rejectedKey)(job.name, part);
      const found = await inTime(bucket.get(key), key);
      if (!found) throw storageError("jobs", key, "the object was deleted");
      yield* piecesOf(found.body, key);
    }
    if (next < parts) throw storageError("jobs", partKey(job.name, next), "the object was deleted");
  }
  const all = pieces();
  return new ReadableStream({
    async pull(stream) {
      const { done, value } = await all.next();
      if (done) stream.close();
      else stream.enqueue(value);
    },
    cancel: async () => void (await all.return(undefined)),
  });
}
