import type { BertEdgeError } from "../../../artifact/error.ts";

interface Listener<Answer> {
  answered(answer: Answer): void;
  /** Called when the thread has ended. No answer follows. */
  ended(cause: unknown): void;
}

interface Thread<Task> {
  post(task: Task): void;
  end(): Promise<void>;
}

/** Starts a thread, which answers each task that is posted to it. */
export type Spawn<Task, Answer> = (listener: Listener<Answer>) => Thread<Task>;

/** A thread that performs one task at a time. */
export interface OpenThread<Task, Answer> {
  /**
   * Performs a task. Call it again only after the answer.
   *
   * @throws the error that describes why the thread has ended
   */
  ask(task: Task): Promise<Answer>;
  isAlive(): boolean;
  /** Ends the thread. A task that has no answer yet fails with `error`. */
  end(error: BertEdgeError): Promise<void>;
}

/**
 * Starts a thread.
 *
 * @param failed returns the error for a thread that ends by itself
 */
export function openThread<Task, Answer>(
  spawn: Spawn<Task, Answer>,
  failed: (cause: unknown) => BertEdgeError,
): OpenThread<Task, Answer> {
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let end: BertEdgeError | undefined;

  const ended = (error: BertEdgeError) => {
    end ??= error;
    waiting?.reject(end);
  };
  const thread = spawn({
    answered: (answer) => waiting?.resolve(answer),
    ended(cause) {
      ended(failed(cause));
      // Browsers keep a worker running after an uncaught error, so it is ended here.
      void thread.end();
    },
  });

  return {
    async ask(task) {
      if (end) throw end;
      waiting = Promise.withResolvers();
      thread.post(task);
      return waiting.promise;
    },
    isAlive: () => end === undefined,
    async end(error) {
      ended(error);
      await thread.end();
    },
  };
}
