import { BertEdgeError } from "../artifact/error.ts";
import { urlPath } from "../artifact/keys.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

export interface HttpStoreOptions {
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** For a whole object, default 30 000. */
  timeoutMs?: number | undefined;
  fetch?: (url: string, init: { headers: Readonly<Record<string, string>>; signal: AbortSignal }) => Promise<Response>;
  /** For messages. Default: the address without what is behind its `?`. */
  name?: string;
}

/**
 * Reads what was published to a bucket or folder that a web server shows, each object at `<url>/<key>`. Caches between may
 * show an older model as long as the server lets them keep `models/<name>/current.json`.
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
      `Models cannot be read from the address ${url.replace(/\/\/.*@/, "//…@")}.`,
      {
        hint: "Give a whole address, https://…, and credentials in headers.",
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
