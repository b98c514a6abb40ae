import { open, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** A lock is held for a few milliseconds. One that is held longer was left by a process that was killed. */
const STALE_MS = 5_000;
const RETRY_MS = 5;

/**
 * Takes the lock of a file, which one process at a time can hold: an empty file beside it. Disposing the result frees it.
 * Waits while another process holds it.
 */
export async function lockOf(path: string): Promise<AsyncDisposable> {
  const lock = `${path}.lock`;
  const began = performance.now();
  for (;;) {
    try {
      await (await open(lock, "wx")).close();
      return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) };
    } catch (error) {
      if (Object(error).code !== "EEXIST") throw error;
    }
    if (performance.now() - began > STALE_MS) await rm(lock, { force: true });
    else await setTimeout(RETRY_MS);
  }
}
