import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Returns the folder of the user's caches. */
export function userCacheFolder(
  { LOCALAPPDATA, XDG_CACHE_HOME }: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === "win32") return LOCALAPPDATA || join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  // Paths in XDG_CACHE_HOME must be absolute: https://specifications.freedesktop.org/basedir-spec
  return XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
}
