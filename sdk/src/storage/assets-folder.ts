import { BertEdgeError } from "../artifact/error.ts";
import { fsStore } from "./fs.ts";
import type { WritableStore } from "./store.ts";

/** https://developers.cloudflare.com/workers/platform/limits/#static-assets */
const ASSET_BYTES = 25 * 1024 * 1024;

/**
 * Objects as files that are deployed with a Worker as its static assets, where `assetsStore` reads them.
 *
 * @throws BertEdgeError `asset_too_large` for an object that Cloudflare would refuse
 */
export function assetsFolder(folder: string): WritableStore {
  const store = fsStore(folder);
  return {
    ...store,
    async put(key, bytes, options) {
      if (bytes.length <= ASSET_BYTES) return store.put(key, bytes, options);
      throw new BertEdgeError(
        "asset_too_large",
        `${key} has ${bytes.length} bytes, and static assets have at most ${ASSET_BYTES}.`,
        { hint: "Prepare the model with --targets edge only, or publish it to a bucket." },
      );
    },
  };
}
