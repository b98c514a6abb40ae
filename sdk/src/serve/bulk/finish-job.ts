import { addCounts } from "../../bulk/record-counts.ts";
import type { JobsPlace } from "./bindings.ts";
import { finishedParts } from "./finished-parts.ts";
import { inTime } from "./in-time.ts";
import type { BulkJob } from "./job.ts";
import { writeSummary } from "./job-status.ts";
import type { MessageOf } from "./messages.ts";

/** Longest time between two looks at the parts, in seconds. After progress, the time is a second again. */
const MAX_LOOK_SECONDS = 600;

/** Writes the summary of a job, if all its parts exist. Otherwise sends itself again, with a delay. */
export async function finishJob(
  { bucket, queue }: JobsPlace,
  job: BulkJob,
  message: MessageOf<"finish">,
  now: number,
): Promise<void> {
  let { next, counts } = message;
  for await (const { part, counts: more } of finishedParts(bucket, job, next)) {
    if (part !== next) break;
    counts = addCounts(counts, more);
    next++;
  }
  if (next >= message.parts) return writeSummary(bucket, job, { parts: message.parts, counts, now });
  const idle = next > message.next ? 0 : message.idle + 1;
  const delaySeconds = Math.min(2 ** idle, MAX_LOOK_SECONDS);
  await inTime(queue.send({ ...message, next, counts, idle }, { contentType: "json", delaySeconds }), "queue");
}
