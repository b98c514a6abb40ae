import { BertEdgeError } from "../artifact/error.ts";
import type { StoredObject } from "./store.ts";

/** Makes the error for an object that another publisher has written meanwhile. */
export const publishConflict = (store: string, key: string): BertEdgeError =>
  new BertEdgeError("publish_conflict", `Another publisher has written ${store}/${key} meanwhile.`, {
    hint: "Its version is current. `bert-edge list` shows all versions, and `bert-edge promote` makes another one current.",
  });

/**
 * Checks that an object is still the one that is to be replaced, for stores that do not check it themselves.
 *
 * @param replaces undefined: any object
 * @throws BertEdgeError `publish_conflict`
 */
export function assertUnchanged(
  store: string,
  key: string,
  found: StoredObject | undefined,
  replaces: StoredObject | null | undefined,
): void {
  if (replaces !== undefined && found?.etag !== replaces?.etag) throw publishConflict(store, key);
}
