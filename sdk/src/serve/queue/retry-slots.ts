/** Longest wait for a slot, in ms. Clients that ignore their slots take those of others, so the queue of slots must end. */
const LONGEST_MS = 2_000;

/**
 * Makes a function that gives every refused request its own time to come again. Otherwise, all requests that were refused in an
 * overload would come again at the same time, and most would be refused again. It takes the time in ms after which the request may be
 * answered, and the time that an answer needs, and returns the milliseconds until the request should come.
 */
export function retrySlots(now: () => number): (ms: number, lengthMs: number) => number {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (ms, lengthMs) => {
    const earliest = now() + ms;
    lastAt = Math.min(Math.max(earliest, lastAt + lengthMs), earliest + LONGEST_MS);
    return lastAt - now();
  };
}
