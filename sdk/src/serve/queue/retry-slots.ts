/** Longest wait for a slot, in ms. Clients that ignore their slots take those of others, so the queue of slots must end. */
const LONGEST_MS = 2_000;

/** Times at which refused requests should come again, one after the other. */
export interface RetrySlots {
  /**
   * Takes the next slot.
   *
   * @param ms time after which the request may be answered
   * @param lengthMs time that an answer needs
   * @returns milliseconds until the slot
   */
  take(ms: number, lengthMs: number): number;
}

/**
 * Makes slots that give every refused request its own time. Without slots, all requests that were refused in an overload
 * would come again at the same time, and most would be refused again.
 */
export function retrySlots(now: () => number): RetrySlots {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    take(ms, lengthMs) {
      const earliest = now() + ms;
      lastAt = Math.min(Math.max(earliest, lastAt + lengthMs), earliest + LONGEST_MS);
      return lastAt - now();
    },
  };
}
