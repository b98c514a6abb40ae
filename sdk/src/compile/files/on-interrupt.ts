/** Signals that end a process without running its `finally` blocks or its "exit" listeners. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Functions to call when a signal comes, in the order in which they were added. */
const cleanups = new Set<() => void>();

/**
 * Runs `clean` when a signal interrupts this process. The signal then takes its usual effect. The function that was added
 * last runs first, so that a subprocess ends before its folder is removed.
 *
 * @returns a function that makes later signals ignore `clean`
 */
export function onInterrupt(clean: () => void): () => void {
  if (cleanups.size === 0) for (const signal of SIGNALS) process.prependListener(signal, interrupted);
  // Wraps the function, so that two calls with the same function add two entries to the set.
  const cleanup = () => clean();
  cleanups.add(cleanup);
  return () => {
    if (cleanups.delete(cleanup) && cleanups.size === 0) stopListening();
  };
}

function interrupted(signal: NodeJS.Signals): void {
  const all = [...cleanups].reverse();
  cleanups.clear();
  stopListening();
  for (const clean of all) clean();
  process.kill(process.pid, signal);
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, interrupted);
}
