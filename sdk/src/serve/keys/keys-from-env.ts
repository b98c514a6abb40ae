import { BertEdgeError } from "../../artifact/error.ts";
import type { ObjectStore } from "../../storage/store.ts";
import type { ApiKey } from "../call-defaults.ts";
import { parseKeys } from "./key-list.ts";

/** Variables with the API keys of a deployment. */
export interface KeysEnv {
  /** API keys or their hashes, comma-separated, or a JSON array. Every request must send one of these keys. */
  API_KEYS?: string | undefined;
  /** Path of an object with API keys, which is read again every minute. It takes the place of API_KEYS. */
  KEYS_OBJECT?: string | undefined;
}

/**
 * Reads API keys from the object KEYS_OBJECT of a store, or from API_KEYS.
 *
 * @throws BertEdgeError `setting_invalid`, and errors of the store
 */
export const keysFromEnv = (
  { API_KEYS = "", KEYS_OBJECT = "" }: KeysEnv,
  store: ObjectStore,
): readonly ApiKey[] | Promise<readonly ApiKey[]> =>
  KEYS_OBJECT === "" ? parseKeys(API_KEYS) : keysFromStore(store, KEYS_OBJECT);

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
