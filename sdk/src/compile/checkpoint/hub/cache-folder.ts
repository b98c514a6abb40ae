import { join, resolve } from "node:path";
import { userCacheFolder } from "../../files/user-cache-folder.ts";

/**
 * Returns the folder in which models of the Hub are kept. With HF_HUB_CACHE or HF_HOME, it is the cache of Hugging Face's
 * own tools, which has the same layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
export function hubCacheFolder(env: NodeJS.ProcessEnv, platform?: NodeJS.Platform): string {
  if (env["HF_HUB_CACHE"]) return resolve(env["HF_HUB_CACHE"]);
  if (env["HF_HOME"]) return resolve(env["HF_HOME"], "hub");
  return join(userCacheFolder(env, platform), "bert-edge", "hub");
}
