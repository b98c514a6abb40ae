import { BertEdgeError } from "../../artifact/error.ts";
import type { JobsBatch, JobsPlace } from "./bindings.ts";
import { embedPart, type PartEmbedder } from "./embed-part.ts";
import { finishJob } from "./finish-job.ts";
import { isExpired, readJob } from "./job.ts";
import { readMessage } from "./messages.ts";
import { splitInput } from "./split-input.ts";

/** Pause before a message is delivered again, in seconds. It doubles with each attempt. */
const [FIRST_PAUSE, MAX_PAUSE] = [5, 600];

export interface BatchHandler extends PartEmbedder {
  readonly place: JobsPlace;
  readonly now?: () => number;
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

async function handleMessage(body: unknown, { place, now = Date.now, ...embedder }: BatchHandler): Promise<void> {
  const message = readMessage(body);
  const job = await readJob(place.bucket, message.job);
  if (job?.run !== message.run || isExpired(job, now())) return;
  switch (message.kind) {
    case "split":
      return splitInput(place, job, message);
    case "part":
      return embedPart(place.bucket, job, message, embedder);
    case "finish":
      return finishJob(place, job, message, now());
  }
}

function pauseAfter(error: unknown, attempts: number): number {
  const wishedMs = error instanceof BertEdgeError ? (error.retryAfterMs ?? 0) : 0;
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), MAX_PAUSE);
  return Math.min(Math.max(pause, Math.ceil(wishedMs / 1000)), MAX_PAUSE);
}
