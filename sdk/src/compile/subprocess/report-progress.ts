import type { ProgressMessage } from "./messages.ts";

/**
 * Tells the parent process how much of the call is done. Does nothing in a process that no `inSubprocess` has started.
 *
 * @param fraction finished share, from 0 to 1
 */
export function reportProgress(fraction: number): void {
  process.send?.({ progress: fraction } satisfies ProgressMessage);
}
