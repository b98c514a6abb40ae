import { urlPath } from "../artifact/keys.ts";
import { storageError } from "./storage-error.ts";
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
  const name = prefix ? `assets(${prefix})` : "assets";
  return {
    name,
    timeoutMs,
    async open(key, signal) {
      // The binding answers for every host.
      const response = await assets.fetch(`https://assets/${urlPath(prefix + key)}`, { signal });
      if (response.ok) return response.body ?? new Blob().stream();
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      throw storageError(name, key, `HTTP ${response.status}`);
    },
  };
}
