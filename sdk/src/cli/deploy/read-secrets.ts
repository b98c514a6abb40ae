import { BertEdgeError } from "../../artifact/error.ts";
import { namedText } from "../../compile/files/whole-file.ts";
import { parseVariables } from "../wrangler/variables.ts";

/** Secrets of a deployment by name. */
export type DeploySecrets = Readonly<Record<string, string>> & { readonly API_KEYS: string };

/**
 * Reads the secrets of a deployment from a file of lines NAME=value.
 *
 * @throws BertEdgeError `setting_invalid` if the file cannot be read, or has no API_KEYS
 */
export function readSecrets(file: string): DeploySecrets {
  const values = parseVariables(namedText(file, "setting_invalid", `The file of secrets ${file}`, HINT));
  const set = Object.entries(values).flatMap(([name, value = ""]) =>
    value.trim() === "" ? [] : [[name, value] as const],
  );
  const secrets = Object.fromEntries(set);
  const { API_KEYS } = secrets;
  if (API_KEYS === undefined) {
    throw new BertEdgeError("setting_invalid", `The file ${file} has no API_KEYS.`, { hint: HINT });
  }
  return { ...secrets, API_KEYS };
}

const HINT =
  "Write a line API_KEYS=<key> with a long random key, such as `openssl rand -hex 32` makes. With a region, add REGION_URL and REGION_KEY. Keep the file out of git.";
