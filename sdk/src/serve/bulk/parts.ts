import * as v from "valibot";
import type { RecordCounts } from "../../bulk/record-counts.ts";
import { storageError } from "../../storage/storage-error.ts";
import { inTime, type JobsBucket, type JobsObject, piecesOf } from "./bindings.ts";
import { type BulkJob, CountsSchema, type PartKind, partKey, partOfKey, partsPrefix } from "./job.ts";

/** Returns the metadata of a part's results: run, bytes of the input, and counts. A list of the bucket's objects contains it. */
export const metadataOf = ({ run }: BulkJob, bytes: number, counts: RecordCounts) => ({
  run,
  bytes: `${bytes}`,
  counts: JSON.stringify(counts),
});

/** Lists the finished parts of a job in order, from the part `from` on. Parts of earlier jobs of this name are left out. */
export async function* finishedParts(bucket: JobsBucket, job: BulkJob, from = 0) {
  const prefix = partsPrefix(job.name);
  let page: { startAfter?: string; cursor?: string } | undefined =
    from > 0 ? { startAfter: partKey(job.name, from - 1) } : {};
  while (page) {
    const list = bucket.list({ prefix, include: ["customMetadata"], ...page });
    const { objects, truncated, cursor } = await inTime(list, prefix);
    yield* objects.flatMap((object) => finishedPart(object, job) ?? []);
    page = truncated && cursor ? { cursor } : undefined;
  }
}

const JsonCounts = v.pipe(v.string(), v.parseJson(), CountsSchema);

function finishedPart({ key, customMetadata = {} }: JobsObject, { run }: BulkJob) {
  const part = partOfKey(key);
  const counts = v.safeParse(JsonCounts, customMetadata["counts"]);
  if (part === undefined || customMetadata["run"] !== run || !counts.success) return undefined;
  return { part, bytes: Number(customMetadata["bytes"]), counts: counts.output };
}

/** Streams the lines of a complete job in order, one object at a time. The stream fails if one of the `parts` is missing. */
export function partContents(
  bucket: JobsBucket,
  job: BulkJob,
  kind: PartKind,
  parts: number,
): ReadableStream<Uint8Array> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let next = 0;
    for await (const { part, counts } of finishedParts(bucket, job)) {
      if (part !== next) break;
      next++;
      if (kind === "rejected" && counts.rejected === 0) continue;
      const key = partKey(job.name, part, kind);
      const found = await inTime(bucket.get(key), key);
      // An earlier job of this name that was cancelled may still write its last part.
      if (found?.customMetadata?.["run"] !== job.run) {
        await found?.body.cancel().catch(() => {});
        throw storageError("jobs", key, "the object was deleted or replaced");
      }
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
