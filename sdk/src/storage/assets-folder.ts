import { BertEdgeError } from "../artifact/error.ts";
import { fsStore } from "./fs.ts";
import type { ObjectStore, WritableStore } from "./store.ts";

export type { ObjectStore, WritableStore };

/** Maximum size of a static asset: https://developers.cloudflare.com/workers/platform/limits/#static-assets */
const ASSET_BYTES = 25 * 1024 * 1024;

/**
 * Keeps objects as files in a folder that is deployed with a Worker as static assets. In the Worker, `assetsStore`
 * reads the files. `put` throws `asset_too_large` for a file that Cloudflare would refuse.
 */
export function assetsFolder(folder: string): WritableStore {
  const store = fsStore(folder);
  return {
    ...store,
    async put(key, bytes, options) {
      if (bytes.length <= ASSET_BYTES) return store.put(key, bytes, options);
      throw new BertEdgeError(
        "asset_too_large",
        `${key} has ${bytes.length} bytes, but Cloudflare limits static assets to ${ASSET_BYTES} bytes.`,
        { hint: "Prepare the model with `--targets edge` only, or publish the model to a bucket." },
      );
    },
  };
}
