import { BertEdgeError } from "../../artifact/error.ts";
import { chunker } from "../../bulk/chunker.ts";
import { type InputLine, lineSplitter } from "../../bulk/line-splitter.ts";
import { noRecords } from "../../bulk/record-counts.ts";
import { predictLatency } from "../answering/plan.ts";
import { inTime, type JobsBucket, type JobsPlace, piecesOf } from "./bindings.ts";
import { type BulkJob, inputKey, type JobMessage, type MessageOf } from "./job.ts";
import { finishedParts } from "./parts.ts";

/** Bytes of the input that one message splits: up to 0.6 s of CPU time, if lines have 37 bytes. */
const SPLIT_BYTES = 32_000_000;

/** Bytes of a part, to limit the memory of its lines and vectors. */
const PART_BYTES = 1_000_000;

/** Messages in a call of `sendBatch`: the limit of Cloudflare Queues. */
const SEND_MESSAGES = 100;

/**
 * Predicts the CPU time of a line in ms, from above: no tokenizer makes more tokens than a text has bytes, apart from two
 * special tokens.
 */
export function costOfLine({ fit, maxTokens }: BulkJob["parts"], { size }: Pick<InputLine, "size">): number {
  return predictLatency(fit, [Math.min(size + 2, maxTokens)]);
}

/**
 * Sends a message for each part of the input from a place on, except for parts that are finished. After `splitBytes`, the
 * rest is left to another message. After the last part, the message follows that completes the job.
 */
export async function splitInput(
  { bucket, queue }: JobsPlace,
  job: BulkJob,
  from: MessageOf<"split">,
  splitBytes = SPLIT_BYTES,
): Promise<void> {
  const { parts } = job;
  const names = { job: job.name, run: job.run };
  const splitter = lineSplitter(from.line);
  const limits = {
    lines: parts.lines,
    bytes: PART_BYTES,
    cost: parts.costMs,
    costOf: (line: InputLine) => costOfLine(parts, line),
  };
  const chunks = chunker(limits);
  const isFinished = lookup(finishedParts(bucket, job, from.part));
  let place = { part: from.part, offset: from.offset, line: from.line };
  let messages: JobMessage[] = [];

  async function send(): Promise<void> {
    if (messages.length > 0) await sendAll(queue, messages);
    messages = [];
  }
  async function add(chunk: ReturnType<typeof chunks.end>): Promise<void> {
    if (!chunk) return;
    const { size, lines } = chunk;
    if (!(await isFinished(place.part))) messages.push({ kind: "part", ...names, ...place, size });
    place = { part: place.part + 1, offset: place.offset + size, line: place.line + lines.length };
    if (messages.length === SEND_MESSAGES) await send();
  }

  for await (const piece of openInput(bucket, job, { offset: from.offset })) {
    for (const line of splitter.push(piece)) {
      await add(chunks.push(line));
      if (place.offset - from.offset < splitBytes) continue;
      await send();
      return sendAll(queue, [{ kind: "split", ...names, ...place }]);
    }
  }
  for (const line of splitter.end()) await add(chunks.push(line));
  await add(chunks.end());
  messages.push({ kind: "finish", ...names, parts: place.part, next: 0, counts: noRecords, idle: 0 });
  await send();
}

/** Returns a function that says whether a part is in an ascending list. It is asked for parts in ascending order. */
function lookup(list: AsyncIterator<{ part: number }>): (part: number) => Promise<boolean> {
  let next: Promise<IteratorResult<{ part: number }>> | undefined;
  return async (part) => {
    for (;;) {
      next ??= list.next();
      const { done, value } = await next;
      if (done || value.part > part) return false;
      next = undefined;
      if (value.part === part) return true;
    }
  };
}

export const sendAll = async (queue: JobsPlace["queue"], messages: readonly JobMessage[]): Promise<void> =>
  void (await inTime(queue.sendBatch(messages.map((body) => ({ body, contentType: "json" as const }))), "queue"));

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
