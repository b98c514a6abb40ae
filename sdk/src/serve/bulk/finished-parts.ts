import * as v from "valibot";
import type { RecordCounts } from "../../bulk/record-counts.ts";
import type { JobsBucket, JobsObject } from "./bindings.ts";
import { inTime } from "./in-time.ts";
import { type BulkJob, CountsSchema } from "./job.ts";
import { partKey, partOfKey, partsPrefix } from "./keys.ts";

/** A part whose results are in the bucket. */
export interface FinishedPart {
  readonly part: number;
  /** Bytes of the input. */
  readonly bytes: number;
  readonly counts: RecordCounts;
}

type Metadata = Record<string, string>;

/** The metadata of a part's results. They say what is in them, so that nobody has to read them. */
export const metadataOf = ({ run }: BulkJob, { bytes, counts }: Omit<FinishedPart, "part">): Metadata => ({
  run,
  bytes: `${bytes}`,
  counts: JSON.stringify(counts),
});

/** Lists the finished parts of a job in order, from the part `from` on. Parts of earlier jobs of this name are left out. */
export async function* finishedParts(bucket: JobsBucket, job: BulkJob, from = 0): AsyncGenerator<FinishedPart> {
  const prefix = partsPrefix(job.name);
  const start = from > 0 ? { startAfter: partKey(job.name, from - 1) } : {};
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const page = bucket.list({ prefix, include: ["customMetadata"], ...(cursor ? { cursor } : start) });
    const { objects, truncated, cursor: next } = await inTime(page, prefix);
    for (const object of objects) {
      const part = finishedPart(object, job);
      if (part) yield part;
    }
    cursor = truncated ? next : undefined;
  }
}

const JsonCounts = v.pipe(v.string(), v.parseJson(), CountsSchema);

function finishedPart({ key, customMetadata = {} }: JobsObject, { run }: BulkJob): FinishedPart | undefined {
  const part = partOfKey(key);
  const counts = v.safeParse(JsonCounts, customMetadata["counts"]);
  if (part === undefined || customMetadata["run"] !== run || !counts.success) return undefined;
  return { part, bytes: Number(customMetadata["bytes"]), counts: counts.output };
}
