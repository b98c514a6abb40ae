import { BertEdgeError } from "../artifact/error.ts";
import { urlPath } from "../artifact/keys.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

export interface HttpStoreOptions {
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Time limit for reading a whole object, in ms. Default 30 000. */
  timeoutMs?: number | undefined;
  fetch?: (url: string, init: { headers: Readonly<Record<string, string>>; signal: AbortSignal }) => Promise<Response>;
  /** Name in error messages. Default: the address without its query. */
  name?: string;
}

/**
 * Reads models from a web server, each object at `<url>/<key>`. A cache in front of the server returns an old version until
 * its copy of `models/<name>/current.json` expires.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function httpStore(
  url: string,
  { headers = {}, timeoutMs, fetch: send = fetch, name }: HttpStoreOptions = {},
): ObjectStore {
  const { origin, pathname, search, username } = URL.parse(url) ?? {};
  if (origin === undefined || pathname === undefined || username) {
    throw new BertEdgeError(
      "setting_invalid",
      `Cannot read models from ${url.replace(/\/\/.*@/, "//…@")}: it is not a URL without credentials.`,
      {
        hint: "Give a complete URL, https://…, and put credentials into `headers`.",
      },
    );
  }
  const base = origin + pathname.replace(/\/+$/, "");
  const store = name ?? base;
  return {
    name: store,
    timeoutMs,
    async open(key, signal) {
      const response = await send(`${base}/${urlPath(key)}${search}`, { headers, signal });
      if (response.ok) return response.body ?? new Blob().stream();
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      throw storageError(store, key, `HTTP ${response.status}`);
    },
  };
}
