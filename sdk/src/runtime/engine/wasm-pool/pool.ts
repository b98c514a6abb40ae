import { totalLength } from "../../../artifact/total-length.ts";
import { inOrder, sequencesOf, together } from "../batching.ts";
import type { EngineSession, TokenSequence, VectorHead } from "../engine.ts";
import { idsOf } from "../token-sequence.ts";
import { sessionReleased } from "../wasm/load/releasable.ts";
import { checkSequences } from "../wasm/run/check-sequences.ts";
import type { Program } from "../wasm/run/program.ts";
import { BATCH_TOKENS } from "../wasm/run/session.ts";
import type { ThreadSession } from "./thread-session.ts";

/** Minimum tokens per batch. Sending smaller batches to another thread is not worth the overhead. */
const MIN_TOKENS = 32;

export interface PoolOptions {
  readonly size: number;
  open(): Promise<ThreadSession>;
  readonly program: Pick<Program, "maxTokens" | "vocabulary" | "pairs">;
}

interface Job extends PromiseWithResolvers<Float32Array<ArrayBuffer>[]> {
  /** The request that the batch belongs to. */
  readonly request: readonly TokenSequence[];
  readonly batch: readonly TokenSequence[];
  readonly head: VectorHead | undefined;
}

/**
 * Opens several sessions of one model, each in its own thread, and returns one session that uses all of them. Every request
 * is split into batches. Idle sessions take the batches in order. If the thread of a session has ended, a new session is
 * opened for the next batch.
 *
 * @throws BertEdgeError the errors of opening a session
 */
export async function openPool({ size, open, program }: PoolOptions): Promise<EngineSession> {
  const members = new Set<ThreadSession>();
  const idle: ThreadSession[] = [];
  let waiting: Job[] = [];
  let busy = 0;
  let isReleased = false;

  async function add(): Promise<ThreadSession> {
    const member = await open();
    if (isReleased) {
      await member.release();
      throw sessionReleased();
    }
    members.add(member);
    return member;
  }

  async function release(): Promise<void> {
    isReleased = true;
    for (const job of waiting) job.reject(sessionReleased());
    waiting = [];
    await Promise.all([...members].map((member) => member.release()));
  }

  /** Takes an idle session. Opens a new session if none is idle or if the thread of the idle one has ended. */
  async function take(): Promise<ThreadSession> {
    const member = idle.pop();
    if (member?.isAlive()) return member;
    if (member) members.delete(member);
    return add();
  }

  async function perform({ request, batch, head, resolve, reject }: Job): Promise<void> {
    try {
      const member = await take();
      try {
        resolve(await member.run(batch, head));
      } finally {
        if (member.isAlive()) idle.push(member);
        else members.delete(member);
      }
    } catch (error) {
      reject(error);
      // The request has failed, so its other batches are not needed.
      waiting = waiting.filter((job) => job.request !== request);
    }
  }

  function start(): void {
    while (busy < size) {
      const job = waiting.shift();
      if (!job) return;
      busy++;
      void perform(job).finally(() => {
        busy--;
        start();
      });
    }
  }

  const opened = await Promise.allSettled(Array.from({ length: size }, add));
  for (const outcome of opened) {
    if (outcome.status === "fulfilled") idle.push(outcome.value);
  }
  const failed = opened.find((outcome) => outcome.status === "rejected");
  if (failed) {
    await release();
    throw failed.reason;
  }

  return {
    provider: "wasm",
    target: "edge",
    batches: together,
    async run(sequences, head) {
      checkSequences(sequences, program);
      const ids = sequences.map(idsOf);
      const total = totalLength(ids);
      const tokens = Math.min(Math.max(Math.ceil(total / size), MIN_TOKENS), BATCH_TOKENS);
      const jobs = inOrder(tokens)(ids).map(
        (batch): Job => ({
          request: sequences,
          batch: sequencesOf(sequences, batch),
          head,
          ...Promise.withResolvers(),
        }),
      );
      waiting.push(...jobs);
      start();
      return (await Promise.all(jobs.map(({ promise }) => promise))).flat();
    },
    memoryBytes: () => [...members].reduce((sum, member) => sum + (member.memoryBytes() ?? 0), 0),
    release,
  };
}
