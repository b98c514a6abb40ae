import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Assets } from "../../sdk/src/storage/assets.ts";
import { assetsFolder } from "../../sdk/src/storage/assets-folder.ts";
import type { WritableStore } from "../../sdk/src/storage/store.ts";

export interface DeployedAssets {
  /** Writes what the next deployment holds. */
  readonly folder: WritableStore;
  readonly workerd: Miniflare;
  /** The binding, once all that was written is deployed. */
  deployed(): Promise<Assets>;
  stop(): Promise<void>;
}

/** A Worker in workerd with static assets, which are deployed anew before they are read. */
export async function deployedAssets(script: string): Promise<DeployedAssets> {
  const directory = await mkdtemp(join(tmpdir(), "bert-edge-assets-"));
  const options = convertV4MiniflareOptions({
    name: "worker",
    modules: true,
    script,
    compatibilityDate: "2026-11-01",
    assets: { directory, binding: "ASSETS", run_worker_first: true, routerConfig: { has_user_worker: true } },
  });
  const workerd = new Miniflare(options);
  const store = assetsFolder(directory);
  let deployment = Promise.resolve();
  let written = false;
  return {
    workerd,
    folder: {
      ...store,
      async put(key, bytes, octets) {
        await store.put(key, bytes, octets);
        written = true;
      },
    },
    async deployed() {
      if (written) deployment = deployment.then(() => workerd.setOptions(options));
      written = false;
      await deployment;
      return (await workerd.getBindings<{ ASSETS: Assets }>()).ASSETS;
    },
    async stop() {
      await workerd.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
