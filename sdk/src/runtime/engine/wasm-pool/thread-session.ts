import { BertEdgeError } from "../../../artifact/error.ts";
import { together } from "../batching.ts";
import type { EngineSession, TokenSequence } from "../engine.ts";
import { sessionReleased } from "../engine-error.ts";
import { openThread } from "../threads/thread.ts";
import { idsOf } from "../token-sequence.ts";
import type { SpawnSession, ThreadTask } from "./thread-task.ts";

/** A session in its own thread. It runs one request at a time. */
export interface ThreadSession extends EngineSession {
  isAlive(): boolean;
}

/**
 * Starts a thread and loads the model in it.
 *
 * @throws BertEdgeError `worker_failed` when the thread ends before the model is loaded, and the errors of loading
 */
export async function threadSession(spawn: SpawnSession, load: ThreadTask): Promise<ThreadSession> {
  const thread = openThread(spawn, workerFailed);
  let memoryBytes: number | undefined;

  async function ask(task: ThreadTask): Promise<Float32Array<ArrayBuffer>[]> {
    const answer = await thread.ask(task);
    if ("error" in answer) {
      const { code, message, hint } = answer.error;
      throw new BertEdgeError(code, message, { hint });
    }
    ({ memoryBytes } = answer);
    return [...answer.results];
  }

  const session: ThreadSession = {
    provider: "wasm",
    target: "edge",
    batches: together,
    // Copies the ids, because posting a view would copy the whole buffer of the view.
    run: (sequences, head) => ask({ sequences: sequences.map(copyOf), head }),
    memoryBytes: () => memoryBytes,
    isAlive: thread.isAlive,
    release: () => thread.end(sessionReleased()),
  };
  try {
    await ask(load);
    return session;
  } catch (error) {
    await session.release();
    throw error;
  }
}

const copyOf = (sequence: TokenSequence): TokenSequence => {
  const ids = idsOf(sequence).slice();
  return "ids" in sequence ? { ...sequence, ids } : ids;
};

const workerFailed = (cause: unknown): BertEdgeError =>
  new BertEdgeError("worker_failed", `A worker thread of the engine ended unexpectedly: ${cause}.`, {
    hint: "The engine replaces the thread. Send the request again. If it fails again, report a bug and include the request's texts.",
    cause,
  });
