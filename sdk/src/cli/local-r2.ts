import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BertEdgeError } from "../artifact/error.ts";
import { r2Publisher, type WritableR2Bucket } from "../storage/r2-publisher.ts";
import type { ManagedStore } from "../storage/store.ts";
import { disposableFolder } from "./disposable-folder.ts";
import { bucketSetting, readWranglerConfig } from "./wrangler/config.ts";
import { requireWrangler, WRANGLER_STATE } from "./wrangler/installed.ts";

interface LocalR2Options {
  /** The project's folder. */
  root: string;
  bucket: string;
  /** wrangler's folder of local state. Default: the one that stock `wrangler dev` uses. */
  state?: string | undefined;
}

/** A bucket on this machine. Disposing it stops the process that gives access to it. */
export type LocalR2 = ManagedStore & AsyncDisposable;

/**
 * Opens a bucket of wrangler's local R2, which `wrangler dev` reads. `wrangler dev` may be running at the same time.
 *
 * @throws BertEdgeError `package_missing`
 */
export async function openLocalR2({ root, bucket, state = WRANGLER_STATE }: LocalR2Options): Promise<LocalR2> {
  const { getPlatformProxy } = requireWrangler(root);
  // The project's own configuration may have bindings that cannot be opened here, so this configuration has only the bucket.
  using folder = disposableFolder("r2");
  const configPath = join(folder.path, "wrangler.json");
  const config = {
    name: "bert-edge-local-r2",
    compatibility_date: "2025-01-01",
    r2_buckets: [{ binding: "MODELS", bucket_name: bucket }],
  };
  await writeFile(configPath, JSON.stringify(config));
  // wrangler would fetch an example of `request.cf` from the network, which nothing here needs.
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  const { env, dispose } = await getPlatformProxy<{ MODELS: WritableR2Bucket }>({
    configPath,
    persist: { path: resolve(root, state, "v3") },
    remoteBindings: false,
  });
  return { ...r2Publisher(env.MODELS, `r2-local(${bucket})`), [Symbol.asyncDispose]: dispose };
}

/**
 * Opens a local bucket that the project's wrangler configuration binds, in any environment. `wrangler dev` sees no other bucket.
 *
 * @throws BertEdgeError `project_invalid`, `package_missing`
 */
export async function openProjectBucket(root: string, bucket: string): Promise<LocalR2> {
  const config = readWranglerConfig(root);
  const { path, environment } = config;
  const all = ["", ...environment.all].flatMap((env) => [...readWranglerConfig(root, env).buckets.values()]);
  const bound = [...new Set(all)];
  if (bound.includes(bucket)) return openLocalR2({ root, bucket });
  throw new BertEdgeError("project_invalid", `${path} has no R2 binding to the bucket ${bucket}.`, {
    hint:
      bound.length > 0
        ? `Publish to one of its buckets: ${bound.map((name) => `r2-local:${name}`).join(", ")}.`
        : `Add ${bucketSetting(config, bucket)}.`,
  });
}
