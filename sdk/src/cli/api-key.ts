import { BertEdgeError } from "../artifact/error.ts";
import { namedText } from "../compile/files/whole-file.ts";
import { parseKeys, readEntry } from "../serve/keys/key-list.ts";
import { parseVariables } from "./wrangler/variables.ts";

/** The environment variable with an API key of a deployment. */
export const KEY_VARIABLE = "BERT_EDGE_API_KEY";

/** Option of commands that call a deployment. The key is in a file, because all users of a machine can see a process's arguments. */
export const keyFileOption = [
  "--key-file <file>",
  `file with an API key, or with a line API_KEYS=…, such as .dev.vars (default: $${KEY_VARIABLE})`,
] as const;

/**
 * Reads an API key of a deployment.
 *
 * @param file path of a file with the key, or with a line API_KEYS=…; undefined reads the environment
 * @throws BertEdgeError `setting_invalid`
 */
export function readApiKey(file: string | undefined): string {
  const key = (file === undefined ? process.env[KEY_VARIABLE] : keyIn(file))?.trim() ?? "";
  if (/^[!-~]+$/.test(key)) return key;
  const where = file === undefined ? `The variable ${KEY_VARIABLE}` : `The file ${file}`;
  throw new BertEdgeError("setting_invalid", `${where} has no API key.`, {
    hint: `Set ${KEY_VARIABLE} to one of the deployment's API keys, or name a file with one: --key-file <file>. Never give the key itself as an argument.`,
  });
}

/**
 * Reads an API key for a deployment that may need none. Returns undefined if no file is given and the environment has no key.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export const optionalApiKey = (file: string | undefined): string | undefined =>
  file === undefined && !process.env[KEY_VARIABLE]?.trim() ? undefined : readApiKey(file);

/**
 * Returns the first key of a deployment's API_KEYS that is not a hash; undefined if there is none.
 *
 * @throws BertEdgeError `setting_invalid` if API_KEYS is not a list of keys
 */
export const firstPlainKey = (setting: string): string | undefined =>
  parseKeys(setting)
    .map((key) => readEntry(typeof key === "string" ? key : key.key)?.plain)
    .find((key) => key);

/** Returns the first plain key of a file's line API_KEYS=…, leaving out hashes; without such a line, the whole text. */
function keyIn(file: string): string {
  const text = namedText(
    file,
    "setting_invalid",
    `The file ${file}`,
    "Give a file with one of the deployment's API keys.",
  );
  if (!/^\s*API_KEYS\s*=/m.test(text)) return text;
  return firstPlainKey(parseVariables(text)["API_KEYS"] ?? "") ?? "";
}
