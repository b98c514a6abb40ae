import { urlPath } from "../artifact/keys.ts";
import { httpStore } from "./http.ts";
import type { ObjectStore } from "./store.ts";

/** The part of a Workers static assets binding that is used. */
export interface Assets {
  fetch(url: string, init: { signal: AbortSignal }): Promise<Response>;
}

/**
 * Reads what was published to an `assetsFolder` and deployed with the Worker. Without `run_worker_first = true` among the
 * settings of its assets, Cloudflare serves the model's files to everybody who asks for them.
 */
export function assetsStore(
  assets: Assets,
  { prefix = "", timeoutMs }: { prefix?: string; timeoutMs?: number } = {},
): ObjectStore {
  return httpStore(`https://assets/${urlPath(prefix)}`, {
    // The binding answers for every host.
    fetch: (url, init) => assets.fetch(url, init),
    name: prefix ? `assets(${prefix})` : "assets",
    timeoutMs,
  });
}
