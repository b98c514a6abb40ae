import { BertEdgeError } from "../artifact/error.ts";

/** Makes the error for a store that cannot be reached, refuses access or is too slow. Another attempt may succeed. */
export function storageError(store: string, key: string, what: string, cause?: unknown): BertEdgeError {
  return new BertEdgeError("storage_unavailable", `${store} could not read or write ${key}: ${what}`, {
    hint: "Check the store's address, bucket and credentials, and that this machine can reach the store.",
    cause,
  });
}
