import { BertEdgeError } from "../../artifact/error.ts";
import { shown } from "../../artifact/shown.ts";
import { type ApiKey, checkDefaults, type KeyWithDefaults, perMinute } from "../call-defaults.ts";
import { KEY_NAME, readEntry } from "./entry.ts";

/**
 * Checks API keys, because plain JavaScript and settings of the environment can give anything. The errors show no key.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function checkKeyList(keys: unknown): readonly ApiKey[] {
  if (!keys) return [];
  const isKey = (key: unknown) => typeof key === "string" || typeof (key as KeyWithDefaults | null)?.key === "string";
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
      throw invalid(
        `has a hash at index ${index} that is not valid`,
        "Write sha256: and 64 hexadecimal digits, as `bert-edge keys hash` prints them, or <name>:sha256:<digits>.",
      );
    }
    if (typeof key === "object") checkOptions(key, index);
  }
  return keys as readonly ApiKey[];
}

function checkOptions(key: KeyWithDefaults, index: number): void {
  checkDefaults(key, "keys");
  if (key.name !== undefined && !(typeof key.name === "string" && KEY_NAME.test(key.name))) {
    throw invalid(`has a name at index ${index} that is not valid`, "Use 1 to 64 letters, digits, _, . and -.");
  }
  for (const limit of perMinute) {
    const value: unknown = key[limit];
    if (value !== undefined && !(typeof value === "number" && value >= 1 && value < Number.POSITIVE_INFINITY)) {
      const hint = "Give a number of 1 or more, or leave it out.";
      throw invalid(`has ${shown(value)} for ${limit} at index ${index}`, hint);
    }
  }
}

const invalid = (what: string, hint: string) =>
  new BertEdgeError("setting_invalid", `The option keys ${what}.`, { hint });
