/**
 * Resolves in a later turn of the event loop, so that other requests, timers and fetches can run first. The delay of 0 matters:
 * without it, workerd waits 2 ms. Node waits 1 ms even with it, so `setImmediate` comes first.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
