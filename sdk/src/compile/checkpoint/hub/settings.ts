import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { isAbsent } from "../../../storage/absent.ts";
import { userCacheFolder } from "../../files/folders.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../files/whole-file.ts";

/** Server from which models are downloaded, its access token, and the folder for the models. */
export interface HubSettings {
  /** Address of the Hub, or of a server that speaks its protocol. */
  readonly endpoint: URL;
  /** Access token for private and gated models. */
  readonly token: HubToken | undefined;
  /** Folder in which downloaded models are kept. */
  readonly cache: string;
}

const LOOPBACK = ["127.0.0.1", "localhost"];

/** Whether requests to a URL are allowed: https, or http on this machine. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && LOOPBACK.includes(hostname));

/**
 * Reads the environment variables that Hugging Face's own tools read: HF_ENDPOINT, HF_HUB_CACHE, HF_HOME, and the
 * variables that `hubToken` reads.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function hubSettings(env: NodeJS.ProcessEnv = process.env): HubSettings {
  return { endpoint: endpointOf(env), token: hubToken(env), cache: hubCacheFolder(env) };
}

function endpointOf({ HF_ENDPOINT = "" }: NodeJS.ProcessEnv): URL {
  const url = URL.parse(HF_ENDPOINT || "https://huggingface.co");
  if (url && isSafe(url) && url.username === "") return url;
  throw new BertEdgeError("setting_invalid", "HF_ENDPOINT is not the https address of a Hub.", {
    hint: "Remove HF_ENDPOINT to use https://huggingface.co, or set a complete address without credentials. Your token goes in HF_TOKEN.",
  });
}

/**
 * Returns the folder in which models of the Hub are kept. With HF_HUB_CACHE or HF_HOME, it is the cache of Hugging Face's
 * own tools, which has the same layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
export function hubCacheFolder(env: NodeJS.ProcessEnv, platform?: NodeJS.Platform): string {
  if (env["HF_HUB_CACHE"]) return resolve(env["HF_HUB_CACHE"]);
  if (env["HF_HOME"]) return resolve(env["HF_HOME"], "hub");
  return join(userCacheFolder(env, platform), "bert-edge", "hub");
}

/** An access token of the Hub. */
interface HubToken {
  /** Never part of a message. */
  readonly value: string;
  /** Variable or file in which the token was found, for messages. */
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
    return wholeTextSync(path, MAX_SETTINGS_BYTES);
  } catch (cause) {
    if (isAbsent(cause)) return "";
    if (cause instanceof BertEdgeError) throw cause;
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
