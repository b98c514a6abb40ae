import { BertEdgeError } from "../../../artifact/error.ts";
import { together } from "../batching.ts";
import type { EngineSession, TokenSequence } from "../engine.ts";
import { idsOf } from "../token-sequence.ts";
import { sessionReleased } from "../wasm/load/releasable.ts";
import type { Spawn, ThreadAnswer, ThreadTask } from "./thread.ts";

/** A session in its own thread. It runs one request at a time. */
export interface ThreadSession extends EngineSession {
  isAlive(): boolean;
}

/**
 * Starts a thread and loads the model in it.
 *
 * @throws BertEdgeError `worker_failed` when the thread ends before the model is loaded, and the errors of loading
 */
export async function threadSession(spawn: Spawn, load: ThreadTask): Promise<ThreadSession> {
  let waiting: PromiseWithResolvers<ThreadAnswer> | undefined;
  let memoryBytes: number | undefined;
  let end: BertEdgeError | undefined;

  const ended = (error: BertEdgeError) => {
    end ??= error;
    waiting?.reject(end);
  };
  const thread = spawn({
    answered: (answer) => waiting?.resolve(answer),
    ended(cause) {
      ended(workerFailed(cause));
      // In browsers, a worker keeps running after an uncaught error.
      void thread.end();
    },
  });

  async function ask(task: ThreadTask): Promise<Float32Array<ArrayBuffer>[]> {
    if (end) throw end;
    waiting = Promise.withResolvers();
    thread.post(task);
    const answer = await waiting.promise;
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
    isAlive: () => end === undefined,
    async release() {
      ended(sessionReleased());
      await thread.end();
    },
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
  return "ids" in sequence ? { ids, secondFrom: sequence.secondFrom } : ids;
};

const workerFailed = (cause: unknown): BertEdgeError =>
  new BertEdgeError("worker_failed", `A worker thread of the engine ended unexpectedly: ${cause}.`, {
    hint: "The engine replaces the thread. Send the request again. If it fails again, report a bug and include the request's texts.",
    cause,
  });
