import { BertEdgeError } from "../../artifact/error.ts";

/** Returns the error for work that an AbortSignal stopped. The cause of the error is the reason of the signal. */
export const abortedError = (signal: AbortSignal): BertEdgeError =>
  new BertEdgeError("aborted", "The command was stopped before it was finished.", {
    hint: "Nothing was written. Run the command again to finish it.",
    cause: signal.reason,
  });

/** @throws BertEdgeError `aborted` if the signal is aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}
