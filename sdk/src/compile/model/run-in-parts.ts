import type { EngineSession } from "../../runtime/engine/engine.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";

export interface PartsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called before and after each part with the finished share of the sequences, if there are several parts. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

/** Sequences that run between two reports of progress: few enough that each part of a large model takes seconds. */
const SEQUENCES_AT_ONCE = 16;

/**
 * Returns a session that runs its sequences in parts, and reports progress and stops between them.
 *
 * @throws BertEdgeError (when the session runs) `aborted`, and the errors of `session`
 */
export const runInParts = (
  session: Pick<EngineSession, "run">,
  { signal, progress }: PartsOptions,
): Pick<EngineSession, "run"> => ({
  async run(sequences, head) {
    throwIfAborted(signal);
    if (sequences.length <= SEQUENCES_AT_ONCE) return session.run(sequences, head);
    const results: Float32Array<ArrayBuffer>[] = [];
    while (results.length < sequences.length) {
      throwIfAborted(signal);
      progress?.(results.length / sequences.length);
      const part = sequences.slice(results.length, results.length + SEQUENCES_AT_ONCE);
      results.push(...(await session.run(part, head)));
    }
    progress?.(1);
    return results;
  },
});
