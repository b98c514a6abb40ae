import { BertEdgeError } from "../../../../artifact/error.ts";
import type { EngineSession } from "../../engine.ts";

/**
 * A session that forgets `opened` when it is released. WebAssembly memory is given back once nothing refers to it, however
 * long the session itself is kept.
 */
export function releasable(opened: EngineSession): EngineSession {
  const { provider, target, complete } = opened;
  let session: EngineSession | undefined = opened;
  return {
    provider,
    target,
    complete,
    ready: async (sequences) => session?.ready?.(sequences),
    /** @throws BertEdgeError `session_released`, and as the session */
    async run(sequences, head) {
      if (session) return session.run(sequences, head);
      throw sessionReleased();
    },
    memoryBytes: () => (session ? session.memoryBytes() : 0),
    async release() {
      const last = session;
      session = undefined;
      await last?.release();
    },
  };
}

export const sessionReleased = (): BertEdgeError =>
  new BertEdgeError("session_released", "The session was released, and its model is gone.", {
    hint: "Load the model again, or release it after its last use.",
  });
