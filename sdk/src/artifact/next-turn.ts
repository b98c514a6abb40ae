/** Resolves in a later turn of the event loop, so that other requests, timers and fetches can run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
