import { BertEdgeError } from "../../artifact/error.ts";
import type { ObjectStore } from "../../storage/store.ts";
import type { ApiKey } from "../call-defaults.ts";
import { parseKeys } from "./parse-keys.ts";

/**
 * Reads API keys from an object of a store. A deployment whose option `keys` returns this promise reads them again every
 * minute. The object has the format of `parseKeys`.
 *
 * @throws BertEdgeError `setting_invalid` when there is no such object or it is not a list of keys, and errors of the store
 */
export async function keysFromStore(store: ObjectStore, path: string): Promise<readonly ApiKey[]> {
  const stream = await store.open(path, AbortSignal.timeout(READ_MS));
  if (stream) return parseKeys(await new Response(stream).text());
  throw new BertEdgeError("setting_invalid", `The store ${store.name} has no API keys at ${path}.`, {
    hint: "Write the entries that `bert-edge keys new` prints into this object, one a line.",
  });
}

const READ_MS = 5_000;
