import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { CountsSchema } from "./job.ts";

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const job = { job: v.string(), run: v.string() };
/** A place in the input where a part begins: its number, its first byte and the number of its first line. */
const place = { part: Count, offset: Count, line: Count };

const JobMessageSchema = v.variant("kind", [
  /** Split the input into parts from a place on. */
  v.object({ kind: v.literal("split"), ...job, ...place }),
  /** Embed a part, which has `size` bytes. */
  v.object({ kind: v.literal("part"), ...job, ...place, size: Count }),
  /** Complete the job when all its parts exist. Those before `next` do, and have `counts` together. */
  v.object({ kind: v.literal("finish"), ...job, parts: Count, next: Count, counts: CountsSchema, idle: Count }),
]);

/** A message on the queue of jobs. A message is about 200 bytes long. */
export type JobMessage = v.InferOutput<typeof JobMessageSchema>;
export type MessageOf<Kind extends JobMessage["kind"]> = Extract<JobMessage, { kind: Kind }>;

/** @throws BertEdgeError `request_invalid` */
export function readMessage(body: unknown): JobMessage {
  const result = v.safeParse(JobMessageSchema, body);
  if (result.success) return result.output;
  throw new BertEdgeError("request_invalid", `The message is not one of a job: ${result.issues[0].message}`, {
    hint: "Use a queue of its own for jobs.",
  });
}
