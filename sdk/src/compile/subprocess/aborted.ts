import { BertEdgeError } from "../../artifact/error.ts";

/** Returns the error of a command that an AbortSignal stopped. The error's cause is the signal's reason. */
export const abortedError = (signal: AbortSignal): BertEdgeError =>
  new BertEdgeError("aborted", "The command was stopped before it was finished.", {
    hint: "Nothing was written. Run the command again.",
    cause: signal.reason,
  });

/** @throws BertEdgeError `aborted` if the signal is aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}
