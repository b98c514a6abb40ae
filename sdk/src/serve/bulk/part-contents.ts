import type { JobsBucket } from "./bindings.ts";
import { finishedParts } from "./finished-parts.ts";
import { inTime, piecesOf } from "./in-time.ts";
import type { BulkJob } from "./job.ts";
import { partKey, rejectedKey } from "./keys.ts";

/** Streams the results of all finished parts in order, or the records that were set aside. Reads one object at a time. */
export function partContents(
  bucket: JobsBucket,
  job: BulkJob,
  kind: "results" | "rejected",
): ReadableStream<Uint8Array> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const { part, counts } of finishedParts(bucket, job)) {
      if (kind === "rejected" && counts.rejected === 0) continue;
      const key = (kind === "results" ? partKey : rejectedKey)(job.name, part);
      const found = await inTime(bucket.get(key), key);
      if (found) yield* piecesOf(found.body, key);
    }
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
