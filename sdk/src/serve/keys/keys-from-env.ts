import type { ObjectStore } from "../../storage/store.ts";
import type { ApiKey } from "../call-defaults.ts";
import { keysFromStore } from "./keys-from-store.ts";
import { parseKeys } from "./parse-keys.ts";

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
