import { keyPrefix, pointerKey, urlPath } from "../artifact/keys.ts";
import { httpStore } from "./http.ts";
import { memoryStore } from "./memory.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

/** The part of a Workers static assets binding that `assetsStore` uses. */
export interface Assets {
  fetch(url: string, init: { signal: AbortSignal; headers: Readonly<Record<string, string>> }): Promise<Response>;
}

export interface AssetsOptions {
  /** Folder of the models in the assets. Default: the root. */
  prefix?: string;
  /** Time limit for reading a whole object, in ms. Default 30,000. */
  timeoutMs?: number;
  /**
   * Pointers that the Worker's code imports: `models/<name>/current.json` in the folder of the models. An isolate then starts one round
   * trip sooner. Code and assets are deployed together, so the pointers name models that are there. Default: pointers are read from the
   * assets.
   */
  pointers?: readonly { readonly name: string }[];
}

/**
 * Reads models that are deployed with the Worker as static assets. `assetsPublisher` publishes them there. Set
 * `run_worker_first = true` in the settings of the assets: otherwise Cloudflare serves the model's files to everybody.
 */
export function assetsStore(
  assets: Assets,
  { prefix: folder = "", timeoutMs, pointers = [] }: AssetsOptions = {},
): ObjectStore {
  const prefix = keyPrefix(folder);
  const bytesOf = (pointer: object) => new TextEncoder().encode(JSON.stringify(pointer));
  const imported = memoryStore(new Map(pointers.map((pointer) => [pointerKey(pointer.name), bytesOf(pointer)])));
  const store = httpStore(`https://assets/${urlPath(prefix)}`, {
    // The binding ignores the host of the URL.
    fetch: (url, init) => assets.fetch(url, init),
    name: prefix ? `assets(${prefix})` : "assets",
    timeoutMs,
  });
  return { ...store, open: async (...object) => (await imported.open(...object)) ?? store.open(...object) };
}
