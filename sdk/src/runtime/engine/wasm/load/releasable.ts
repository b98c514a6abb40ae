import type { EngineSession } from "../../engine.ts";
import { sessionReleased } from "../../engine-error.ts";

/**
 * Returns a session that runs `opened`. `release` removes the only reference to `opened`, so the WebAssembly memory of
 * `opened` can be freed even if the caller keeps the returned session.
 */
export function releasable(opened: EngineSession): EngineSession {
  const { provider, target, batches, shape, complete } = opened;
  let session: EngineSession | undefined = opened;
  return {
    provider,
    target,
    batches,
    shape,
    complete,
    ready: async (sequences) => session?.ready?.(sequences),
    pageReads: opened.pageReads && ((sequences) => session?.pageReads?.(sequences) ?? 0),
    /** @throws BertEdgeError `session_released`, and the errors of the session */
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
