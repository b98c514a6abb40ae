import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest } from "../artifact/manifest.ts";
import { fsStore } from "./fs.ts";
import type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore };

/** Maximum size of a static asset: https://developers.cloudflare.com/workers/platform/limits/#static-assets */
const ASSET_BYTES = 25 * 1024 * 1024;

/**
 * Keeps objects as files in a folder that is deployed with a Worker as static assets. In the Worker, `assetsStore`
 * reads the files. `put` throws `asset_too_large` for a file that Cloudflare would refuse.
 */
export function assetsPublisher(folder: string): ManagedStore {
  const store = fsStore(folder);
  return {
    ...store,
    async put(key, bytes, options) {
      assertAssetSize(key, bytes.length);
      await store.put(key, bytes, options);
    },
  };
}

/**
 * Checks that all files of an artifact can be static assets.
 *
 * @throws BertEdgeError `asset_too_large`
 */
export function assertAssetSizes({ files }: Pick<Manifest, "files">): void {
  for (const [name, { size }] of Object.entries(files)) assertAssetSize(name, size);
}

function assertAssetSize(name: string, bytes: number): void {
  if (bytes <= ASSET_BYTES) return;
  throw new BertEdgeError(
    "asset_too_large",
    `${name} has ${bytes} bytes, but Cloudflare limits static assets to ${ASSET_BYTES} bytes.`,
    { hint: "Prepare the model with `--targets edge` only, or publish the model to a bucket." },
  );
}
