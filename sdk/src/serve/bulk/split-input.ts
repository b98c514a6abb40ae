import { BertEdgeError } from "../../artifact/error.ts";
import { chunker, type LineChunk } from "../../bulk/chunker.ts";
import { type InputLine, lineSplitter } from "../../bulk/line-splitter.ts";
import { noRecords } from "../../bulk/record-counts.ts";
import { predictLatency } from "../answering/plan.ts";
import { inTime, type JobsBucket, type JobsPlace, piecesOf } from "./bindings.ts";
import { type BulkJob, inputKey, type JobMessage, type MessageOf } from "./job.ts";
import { finishedParts } from "./parts.ts";

/** Bytes of the input that one message splits. Splitting them takes up to 0.6 s of CPU time if lines have 37 bytes. */
const SPLIT_BYTES = 32_000_000;

/** Bytes of the input after which a part ends, to limit the memory of its lines and vectors. */
const PART_BYTES = 1_000_000;

/** Maximum number of messages in a call of `sendBatch`, set by Cloudflare Queues. */
const SEND_MESSAGES = 100;

/**
 * Sends a message for each part of the input from a place on, except for parts that are finished. After `splitBytes`, sends a
 * message that splits the rest. After the last part, sends the message that completes the job.
 */
export async function splitInput(
  { bucket, queue }: JobsPlace,
  job: BulkJob,
  from: MessageOf<"split">,
  splitBytes = SPLIT_BYTES,
): Promise<void> {
  let messages: JobMessage[] = [];
  for await (const message of messagesFor(bucket, job, from, splitBytes)) {
    messages.push(message);
    if (messages.length < SEND_MESSAGES) continue;
    await sendAll(queue, messages);
    messages = [];
  }
  if (messages.length > 0) await sendAll(queue, messages);
}

async function* messagesFor(
  bucket: JobsBucket,
  job: BulkJob,
  { part, offset, line }: MessageOf<"split">,
  splitBytes: number,
): AsyncGenerator<JobMessage> {
  const { lines, costMs, fit, maxTokens } = job.parts;
  const names = { job: job.name, run: job.run };
  // An upper bound: no tokenizer makes more tokens than a text has bytes, apart from two special tokens.
  const costOf = ({ size }: InputLine) => predictLatency(fit, [Math.min(size + 2, maxTokens)]);
  const chunks = chunker({ lines, bytes: PART_BYTES, cost: costMs, costOf });
  const finished = finishedParts(bucket, job, part);
  let next = await finished.next();
  let place = { part, offset, line };

  async function* partOf({ size, lines }: LineChunk): AsyncGenerator<JobMessage> {
    while (!next.done && next.value.part < place.part) next = await finished.next();
    if (next.done || next.value.part > place.part) yield { kind: "part", ...names, ...place, size, waits: 0 };
    place = { part: place.part + 1, offset: place.offset + size, line: place.line + lines.length };
  }

  for await (const lines of inputLines(bucket, job, { offset, line })) {
    for (const line of lines) {
      const chunk = chunks.push(line);
      if (!chunk) continue;
      yield* partOf(chunk);
      if (place.offset - offset >= splitBytes) return yield { kind: "split", ...names, ...place };
    }
  }
  const last = chunks.end();
  if (last) yield* partOf(last);
  yield { kind: "finish", ...names, parts: place.part, next: 0, counts: noRecords, idle: 0 };
}

export const sendAll = async (queue: JobsPlace["queue"], messages: readonly JobMessage[]): Promise<void> =>
  void (await inTime(queue.sendBatch(messages.map((body) => ({ body, contentType: "json" as const }))), "queue"));

/**
 * Reads lines of a job's input, in groups.
 *
 * @param from first byte, number of bytes (default: all that follow), and number of the first line
 * @throws BertEdgeError `job_changed` when the input is not the one the job was started with
 */
export async function* inputLines(
  bucket: JobsBucket,
  { name, input }: BulkJob,
  { line, ...range }: { offset: number; length?: number; line: number },
): AsyncGenerator<InputLine[]> {
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
  const splitter = lineSplitter(line);
  for await (const piece of piecesOf(found.body, key)) yield splitter.push(piece);
  yield splitter.end();
}
