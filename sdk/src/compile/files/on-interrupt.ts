/** Signals that end a process without running its `finally` blocks or its "exit" listeners. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs `clean` when a signal interrupts this process. The signal then takes its usual effect. What was started last is
 * cleaned first: a subprocess ends before its folder is removed.
 *
 * @returns a function that cancels this
 */
export function onInterrupt(clean: () => void): () => void {
  const interrupted = (signal: NodeJS.Signals) => {
    cancel();
    clean();
    process.kill(process.pid, signal);
  };
  const cancel = () => {
    for (const signal of SIGNALS) process.off(signal, interrupted);
  };
  for (const signal of SIGNALS) process.prependListener(signal, interrupted);
  return cancel;
}
