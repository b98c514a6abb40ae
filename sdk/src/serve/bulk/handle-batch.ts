import { BertEdgeError } from "../../artifact/error.ts";
import { type ChunkModel, embedChunk } from "../../bulk/embed-chunk.ts";
import type { InputLine } from "../../bulk/line-splitter.ts";
import { addCounts } from "../../bulk/record-counts.ts";
import type { Background } from "../../runtime/background.ts";
import type { Model } from "../../runtime/model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import type { KnownKey } from "../call-defaults.ts";
import type { Tier } from "../contract/headers.ts";
import type { BeginRequest } from "../keys/spending.ts";
import { anyone, type Caller, callerWith } from "../queue/caller.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { Cost, TaskService } from "../service.ts";
import { inTime, type JobsBatch, type JobsPlace } from "./bindings.ts";
import { type BulkJob, isExpired, type JobMessage, type MessageOf, partKey, readJob, readMessage } from "./job.ts";
import { writeSummary } from "./job-status.ts";
import { finishedParts, metadataOf } from "./parts.ts";
import { inputLines, splitInput } from "./split-input.ts";

/** First and longest pause before a message is delivered again, in seconds. The pause doubles with each attempt. */
const [FIRST_PAUSE, MAX_PAUSE] = [5, 600];

interface BatchHandler {
  readonly place: JobsPlace;
  readonly service: TaskService;
  /** Tier of this deployment. */
  readonly tier: Tier;
  /** The keys of the deployment, and what they spend; false if keys are not checked. */
  readonly keys: { readonly current: () => Promise<readonly KnownKey[]>; readonly begin: BeginRequest } | false;
  readonly background: Background;
}

/**
 * Handles the messages of a queue, one after another. A message that fails is delivered again, and after the queue's
 * `max_retries` it goes to the queue's dead letters. Messages of a job that was deleted, replaced or has expired are dropped.
 */
export async function handleBatch(batch: JobsBatch, handler: BatchHandler): Promise<void> {
  for (const message of batch.messages) {
    try {
      await handleMessage(message.body, handler);
      message.ack();
    } catch (error) {
      console.error(`bert-edge: a message of a job failed, attempt ${message.attempts}:`, error);
      message.retry({ delaySeconds: pauseAfter(error, message.attempts) });
    }
  }
}

async function handleMessage(body: unknown, handler: BatchHandler): Promise<void> {
  const { place } = handler;
  const message = readMessage(body);
  const job = await readJob(place.bucket, message.job);
  if (job?.run !== message.run || isExpired(job, Date.now())) return;
  const key = await keyOf(job, handler);
  switch (message.kind) {
    case "split":
      return splitInput(place, job, message);
    case "part":
      return embedPart(job, message, key, handler);
    case "finish":
      return finishJob(place, job, message);
  }
}

/**
 * Returns the key whose limits apply to a job; undefined if keys are not checked, or if the job has no owner.
 *
 * @throws BertEdgeError `key_wrong` if the deployment has no key of this name any more
 */
async function keyOf({ name, owner }: BulkJob, { keys }: BatchHandler): Promise<KnownKey | undefined> {
  if (!keys || owner === undefined) return undefined;
  const key = (await keys.current()).find((key) => key.name === owner);
  if (key) return key;
  throw new BertEdgeError("key_wrong", `The job ${name} belongs to the key ${owner}, but there is no such key.`, {
    hint: "Add a key of this name and start the job again, or delete its job.json.",
  });
}

/** Begins to count a part as a request of its key. Returns the error of a key that is over its limits. */
function begun(key: KnownKey | undefined, { keys }: BatchHandler): ReturnType<BeginRequest> | BertEdgeError {
  try {
    return key && keys ? keys.begin(key) : undefined;
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "rate_limited") return error;
    throw error;
  }
}

function pauseAfter(error: unknown, attempts: number): number {
  const wishedMs = error instanceof BertEdgeError ? (error.retryAfterMs ?? 0) : 0;
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), MAX_PAUSE);
  return Math.min(Math.max(pause, Math.ceil(wishedMs / 1000)), MAX_PAUSE);
}

/** Time limit for embedding a part, in ms. Its CPU time is at most a quarter of the limit of an invocation. */
const EMBED_MS = 300_000;

/**
 * Embeds a part and writes its results. The objects of a part always get the same names and content, however often its message is
 * delivered. While the API key of the job is over its limits, sends a new message for later. A retry would use up the few deliveries
 * that a queue allows for one message.
 *
 * @throws BertEdgeError `job_changed` when the deployment serves another version of the model, or the input has changed
 */
async function embedPart(
  job: BulkJob,
  message: MessageOf<"part">,
  owner: KnownKey | undefined,
  handler: BatchHandler,
): Promise<void> {
  const { part, offset, size: bytes, line, waits } = message;
  const { place, service, background } = handler;
  const { bucket, queue } = place;
  const key = partKey(job.name, part);
  const earlier = await inTime(bucket.head(key), key);
  if (earlier?.customMetadata?.["run"] === job.run) return;
  const spent = begun(owner, handler);
  if (spent instanceof BertEdgeError) {
    const delaySeconds = pauseAfter(spent, waits + 1);
    return sendLater(queue, { ...message, waits: waits + 1 }, delaySeconds);
  }
  const lines: InputLine[] = [];
  for await (const more of inputLines(bucket, job, { offset, length: bytes, line })) lines.push(...more);
  const embed = async (model: Model) =>
    embedChunk(lines, chunkModel(job, model, { caller: owner ? callerWith(owner) : anyone, spent }, handler), job);
  const { results, rejected, counts } = await service.using(background, embed);
  const customMetadata = metadataOf(job, bytes, counts);
  const write = (to: string, content: string) =>
    inTime(bucket.put(to, content, { httpMetadata: { contentType: "application/jsonl" }, customMetadata }), to);
  // A part is finished when its results exist, so they are written last.
  if (counts.rejected > 0) await write(partKey(job.name, part, "rejected"), rejected);
  await write(key, results);
}

/** Makes the model that embeds a part. Only this tier answers, so that a part that is computed again gets the same bits. */
function chunkModel(
  job: BulkJob,
  model: Model,
  { caller, spent }: { readonly caller: Caller; readonly spent: ReturnType<BeginRequest> },
  { service, tier, background }: BatchHandler,
): ChunkModel {
  const { name, maxTokens } = model.manifest;
  assertVersion(job, name, model.version);
  const signal = AbortSignal.timeout(EMBED_MS);
  let total: Cost = { tokens: 0, texts: 0 };
  return {
    name,
    maxTokens,
    countTokens: (text) => model.tokenizer.encode(text, maxTokens).tokens,
    async embed(texts) {
      const call = embedCall(texts, { truncate: job.truncate || true });
      const deadline = startDeadline(undefined, { arrival: service.arrival(performance.now()) });
      const before = total;
      const onWork = ({ tokens, texts }: Cost) => {
        total = { tokens: before.tokens + tokens, texts: before.texts + texts };
        spent?.(total);
      };
      const answer = await service.answer({ call, deadline, pin: tier, signal, caller, onWork }, background);
      assertVersion(job, answer.model, answer.version);
      return answer.result;
    },
  };
}

function assertVersion(job: BulkJob, name: string, version: string): void {
  if (job.model === `${name}@${version}`) return;
  throw new BertEdgeError("job_changed", `The job ${job.name} needs ${job.model}, but ${name}@${version} is loaded.`, {
    hint: "Publish that version again, or start a job of another name.",
  });
}

/** Longest pause between two checks whether all parts exist, in seconds. After progress, the pause is one second again. */
const MAX_LOOK_SECONDS = 600;

/** Writes the summary of a job, if all its parts exist. Otherwise sends the message again, with a delay. */
async function finishJob({ bucket, queue }: JobsPlace, job: BulkJob, message: MessageOf<"finish">): Promise<void> {
  let { next, counts } = message;
  for await (const { part, counts: more } of finishedParts(bucket, job, next)) {
    if (part !== next) break;
    counts = addCounts(counts, more);
    next++;
  }
  if (next >= message.parts) return writeSummary(bucket, job, message.parts, counts);
  const idle = next > message.next ? 0 : message.idle + 1;
  const delaySeconds = Math.min(2 ** idle, MAX_LOOK_SECONDS);
  await sendLater(queue, { ...message, next, counts, idle }, delaySeconds);
}

const sendLater = async (queue: JobsPlace["queue"], message: JobMessage, delaySeconds: number): Promise<void> =>
  void (await inTime(queue.send(message, { contentType: "json", delaySeconds }), "queue"));
