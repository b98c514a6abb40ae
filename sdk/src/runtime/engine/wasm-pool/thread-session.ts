import { BertEdgeError } from "../../../artifact/error.ts";
import type { EngineSession } from "../engine.ts";
import { sessionReleased } from "../wasm/load/releasable.ts";
import type { Answer, Spawn, Task } from "./thread.ts";

/** A session in a thread of its own, which runs one request at a time. */
export interface ThreadSession extends EngineSession {
  isAlive(): boolean;
}

/** @throws BertEdgeError `worker_failed` when the thread ends before it has loaded the model, and what loading throws */
export async function threadSession(spawn: Spawn, load: Task): Promise<ThreadSession> {
  let waiting: PromiseWithResolvers<Answer> | undefined;
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
      // In browsers an error that nobody catches does not end a worker.
      void thread.end();
    },
  });

  async function ask(task: Task): Promise<Float32Array<ArrayBuffer>[]> {
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
    // A view would take its whole buffer along.
    run: (sequences, head) => ask({ sequences: sequences.map((ids) => ids.slice()), head }),
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

const workerFailed = (cause: unknown): BertEdgeError =>
  new BertEdgeError("worker_failed", `A worker of the engine ended while it was needed: ${cause}.`, {
    hint: "Others go on, and this one is replaced. If it happens again, look for what the request has in common.",
    cause,
  });
