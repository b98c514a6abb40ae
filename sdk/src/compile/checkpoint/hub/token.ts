import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { isAbsent } from "../../../storage/absent.ts";
import { readTextSync } from "../../files/regular-file.ts";

/** An access token of the Hub. */
export interface HubToken {
  /** Never part of a message. */
  readonly value: string;
  /** Where it was found, for messages: a variable or a file. */
  readonly source: string;
}

/** Values that mean yes in variables of Hugging Face's tools. */
const YES = ["1", "ON", "YES", "TRUE"];

/**
 * Reads the access token: HF_TOKEN, or the file that `hf auth login` writes. Hugging Face's own tools look in the same order:
 * https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function hubToken(env: NodeJS.ProcessEnv): HubToken | undefined {
  const value = clean(env["HF_TOKEN"] ?? "", "HF_TOKEN");
  if (value !== "") return { value, source: "HF_TOKEN" };
  if (YES.includes((env["HF_HUB_DISABLE_IMPLICIT_TOKEN"] ?? "").toUpperCase())) return undefined;
  const path = tokenPath(env);
  const stored = clean(textOf(path), path);
  return stored === "" ? undefined : { value: stored, source: path };
}

function tokenPath(env: NodeJS.ProcessEnv): string {
  if (env["HF_TOKEN_PATH"]) return expanded(env["HF_TOKEN_PATH"]);
  const caches = env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(expanded(env["HF_HOME"] || join(caches, "huggingface")), "token");
}

const expanded = (path: string): string => resolve(path.replace(/^~(?=$|[\\/])/, homedir()));

function textOf(path: string): string {
  try {
    return readTextSync(path);
  } catch (cause) {
    if (isAbsent(cause)) return "";
    throw new BertEdgeError(
      "setting_invalid",
      `The file with the token of the Hugging Face Hub, ${path}, cannot be read.`,
      {
        hint: "Give yourself permission to read it, or set HF_HUB_DISABLE_IMPLICIT_TOKEN=1: public models need no token.",
        cause,
      },
    );
  }
}

function clean(text: string, source: string): string {
  const token = text.trim();
  // The message must not contain the token.
  if (/^[\x21-\x7e]*$/.test(token)) return token;
  throw new BertEdgeError("setting_invalid", `${source} has characters that no access token has.`, {
    hint:
      source === "HF_TOKEN"
        ? "Set HF_TOKEN to a token of your account, without spaces or quotes."
        : "Write the file again with `hf auth login`.",
  });
}
