import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/**
 * Returns the folder in which models of the Hub are kept. With HF_HUB_CACHE or HF_HOME, it is the cache of Hugging Face's
 * own tools, which has the same layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
export function hubCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env["HF_HUB_CACHE"]) return resolve(env["HF_HUB_CACHE"]);
  if (env["HF_HOME"]) return resolve(env["HF_HOME"], "hub");
  return join(userCacheFolder(env, platform), "bert-edge", "hub");
}

function userCacheFolder({ LOCALAPPDATA, XDG_CACHE_HOME }: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === "win32") return LOCALAPPDATA || join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  // Paths in XDG_CACHE_HOME must be absolute: https://specifications.freedesktop.org/basedir-spec
  return XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
}
