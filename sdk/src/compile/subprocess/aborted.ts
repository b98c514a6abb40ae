import { BertEdgeError } from "../../artifact/error.ts";

/** The error of work that an AbortSignal has stopped; its cause is the signal's reason. */
export const abortedError = (signal: AbortSignal): BertEdgeError =>
  new BertEdgeError("aborted", "The work was stopped before it was done.", {
    hint: "Nothing was written. Start it again to finish it.",
    cause: signal.reason,
  });

/** @throws BertEdgeError `aborted` once the signal is */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}
