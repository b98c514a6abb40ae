import { BertEdgeError } from "../artifact/error.ts";

/**
 * Makes the error for a store that cannot be reached, refuses access or is too slow. Another attempt may succeed.
 *
 * @param what description of the failure for people, such as "HTTP 500"
 */
export function storageError(
  store: string,
  key: string,
  what: string,
  { cause, hint }: { cause?: unknown; hint?: string | undefined } = {},
): BertEdgeError {
  return new BertEdgeError("storage_unavailable", `${store} could not be read or written: ${what} (object ${key})`, {
    hint: hint ?? "Check the store's address, bucket and credentials, and that this machine can reach the store.",
    cause,
  });
}
