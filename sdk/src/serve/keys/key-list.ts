import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { shown } from "../../artifact/shown.ts";
import { readObject } from "../../storage/read-object.ts";
import type { ObjectStore } from "../../storage/store.ts";
import {
  type ApiKey,
  checkDefaults,
  checkFields,
  defaultNames,
  type KeyWithDefaults,
  limitNames,
  optionInvalid,
} from "../call-defaults.ts";

/** Maximum bytes of an object with keys: enough for 10,000 keys. */
const MAX_LIST_BYTES = 1024 * 1024;

export const KEY_NAME = /^[\w.-]{1,64}$/;

/** Pattern of a plain key: visible ASCII without {}[]<>", so that JSON or an error page gives no keys such as `{` or `</html>`. */
const PLAIN = /^(?!#)(?:(?![{}[\]<>",])[!-~])*$/;

/**
 * Reads an entry: a plain key, `sha256:<hex>` or `<name>:sha256:<hex>`; undefined if it has a hash that is not valid.
 *
 * @throws BertEdgeError `setting_invalid` if a plain key has characters that are not allowed
 */
export function readEntry(text: string) {
  const entry = text.trim();
  const [, name, sha256] = /^(?:(.+):)?sha256:([0-9a-f]{64})$/i.exec(entry) ?? [];
  if (sha256 && (name === undefined || KEY_NAME.test(name))) return { name, sha256: sha256.toLowerCase() };
  if (/sha256:/i.test(entry)) return undefined;
  if (PLAIN.test(entry)) return { plain: entry };
  const hint =
    'Write keys with commas or newlines between them, without comments, spaces and {}[]<>", or a JSON array.';
  throw invalid("has an entry that is not a key", hint);
}

const isKey = (key: unknown) => typeof key === "string" || typeof (key as KeyWithDefaults | null)?.key === "string";
const Keys = v.array(v.pipe(v.unknown(), v.check(isKey, "must be a string, or an object with `key`")));

/**
 * Reads a list of API keys from text: keys and hashes with commas or newlines between them, or a JSON array of `ApiKey`.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function parseKeys(text: string): readonly ApiKey[] {
  const hint = 'Write a JSON array such as [{"name": "web", "key": "sha256:…", "requestsPerMinute": 600}].';
  if (!text.trim().startsWith("[")) return checkKeyList(text.split(/[,\n]/));
  return checkKeyList(parseJson(Keys, text, { code: "setting_invalid", what: "list of API keys", hint }));
}

/**
 * Checks API keys, because plain JavaScript and settings of the environment can give anything. The errors show no key.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function checkKeyList(keys: unknown): readonly ApiKey[] {
  if (!keys) return [];
  const unset = Array.isArray(keys) ? keys.indexOf(undefined) : -1;
  if (unset >= 0) {
    throw new BertEdgeError("setting_invalid", `Key ${unset} of the option keys is undefined. Is the secret set?`, {
      hint: "Set the secret that it comes from: in .dev.vars on this machine, deployed with `npx wrangler secret put <name>`.",
    });
  }
  if (!Array.isArray(keys) || !keys.every(isKey)) {
    throw invalid("is not a list of keys", 'Give a list, for example env.API_KEYS?.split(",") ?? [].');
  }
  for (const [index, key] of (keys as readonly ApiKey[]).entries()) {
    if (!readEntry(typeof key === "string" ? key : key.key)) {
      const hint =
        "Write sha256: and 64 hexadecimal digits, as `bert-edge keys hash` prints them, or <name>:sha256:<digits>.";
      throw invalid(`has a hash at index ${index} that is not valid`, hint);
    }
    if (typeof key === "object") checkOptions(key, index);
  }
  checkSharedNames(keys);
  return keys;
}

/** Returns the name that an entry of a list has; undefined if it has none. */
const nameOf = (key: ApiKey): string | undefined =>
  typeof key === "string" ? readEntry(key)?.name : (key.name ?? readEntry(key.key)?.name);

const isLimited = (key: ApiKey): boolean =>
  typeof key === "object" && limitNames.some((limit) => limit !== "weight" && key[limit] !== undefined);

/** Refuses a key without limits that has the name of a key with limits. Keys of one name share the strictest limits. */
function checkSharedNames(keys: readonly ApiKey[]): void {
  const named = keys.map((key) => ({ name: nameOf(key), limited: isLimited(key) }));
  const limited = new Set(named.flatMap(({ name, limited }) => (limited && name !== undefined ? name : [])));
  const index = named.findIndex((key) => !key.limited && key.name !== undefined && limited.has(key.name));
  if (index < 0) return;
  throw invalid(
    `has a key at index ${index} without limits, but another key named ${named[index]?.name} has limits`,
    "Give both the same limits, or another name to one of them.",
  );
}

const names: readonly (keyof KeyWithDefaults)[] = ["key", "name", "jobs", ...defaultNames, ...limitNames];

function checkOptions(key: KeyWithDefaults, index: number): void {
  checkFields(key, names, "keys", ` at index ${index}`);
  checkDefaults(key, "keys");
  if (key.name !== undefined && !(typeof key.name === "string" && KEY_NAME.test(key.name))) {
    throw invalid(`has a name at index ${index} that is not valid`, "Use 1 to 64 letters, digits, _, . and -.");
  }
  const jobs: unknown = key.jobs;
  if (jobs !== undefined && jobs !== "own" && jobs !== "all") {
    throw invalid(`has ${shown(jobs)} for jobs at index ${index}`, 'Give "own" or "all", or leave it out.');
  }
  for (const limit of limitNames) {
    const value: unknown = key[limit];
    const [least, most] = limit === "weight" ? [1 / 1_000, 1_000] : [1, Number.MAX_VALUE];
    if (value !== undefined && !(typeof value === "number" && value >= least && value <= most)) {
      const hint = `Give a number ${limit === "weight" ? `of ${least} to ${most}` : "of 1 or more"}, or leave it out.`;
      throw invalid(`has ${shown(value)} for ${limit} at index ${index}`, hint);
    }
  }
}

const invalid = (what: string, hint: string) => optionInvalid(`keys ${what}`, hint);

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
 * Reads API keys in the format of `parseKeys` from an object of a store. The option `keys` can return this promise.
 *
 * @throws BertEdgeError `setting_invalid` when the object is missing or is not a list of keys, and errors of the store
 */
export async function keysFromStore(store: ObjectStore, path: string): Promise<readonly ApiKey[]> {
  const bytes = await readObject(store, path, MAX_LIST_BYTES);
  if (bytes) return parseKeys(new TextDecoder().decode(bytes));
  throw new BertEdgeError("setting_invalid", `The store ${store.name} has no API keys at ${path}.`, {
    hint: "Write the entries that `bert-edge keys new` prints into this object, one per line.",
  });
}
