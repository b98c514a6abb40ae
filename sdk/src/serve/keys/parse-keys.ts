import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import type { ApiKey } from "../call-defaults.ts";
import { checkKeyList } from "./check-key-list.ts";

const Keys = v.array(v.union([v.string(), v.looseObject({ key: v.string() })]));

/**
 * Reads a list of API keys from text, such as a variable or a file: keys and hashes apart from each other by commas or newlines,
 * or a JSON array of `ApiKey`.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function parseKeys(text: string): readonly ApiKey[] {
  const hint = 'Write a JSON array such as [{"name": "web", "key": "sha256:…", "requestsPerMinute": 600}].';
  if (/^\s*[{<]/.test(text)) {
    throw new BertEdgeError("setting_invalid", "The API keys are an object or a page, not a list.", { hint });
  }
  if (!text.trim().startsWith("[")) return checkKeyList(text.split(/[,\n]/));
  return checkKeyList(parseJson(Keys, text, { code: "setting_invalid", what: "list of API keys", hint }));
}
