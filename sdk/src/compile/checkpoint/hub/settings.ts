import { join, resolve } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { userCacheFolder } from "../../files/user-cache-folder.ts";
import { type HubToken, hubToken } from "./token.ts";

/** Where models are downloaded from and to. */
export interface HubSettings {
  /** Address of the Hub, or of a server that speaks its protocol. */
  readonly endpoint: URL;
  /** Access token for private and gated models. */
  readonly token: HubToken | undefined;
  /** Folder in which downloaded models are kept. */
  readonly cache: string;
}

const LOOPBACK = ["127.0.0.1", "localhost"];

/** Whether a URL may be asked: https, or http on this machine. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && LOOPBACK.includes(hostname));

/**
 * Reads the environment variables that Hugging Face's own tools read: HF_ENDPOINT, HF_HUB_CACHE, HF_HOME, and those of
 * `hubToken`.
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
