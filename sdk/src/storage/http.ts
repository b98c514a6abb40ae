import { BertEdgeError } from "../artifact/error.ts";
import { urlPath } from "../artifact/keys.ts";
import { readingCheckedKeys } from "./checked-keys.ts";
import { isRedirect, rangeHeader, rangeOf } from "./http-response.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

/** Options that `httpStore` passes to `fetch`. Redirects are not followed, because only the configured server is trusted. */
export interface HttpStoreRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

export interface HttpStoreOptions {
  /** Headers that are sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Time limit for reading a whole object, in ms. Default 30,000. */
  timeoutMs?: number | undefined;
  fetch?: (url: string, init: HttpStoreRequest) => Promise<Response>;
  /** Name of the store in error messages. Default: the address without its query. */
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
    const fault = username ? "the URL contains credentials" : "this is not a complete URL";
    throw new BertEdgeError("setting_invalid", `Cannot read models from ${url.replace(/\/\/.*@/, "//…@")}: ${fault}.`, {
      hint: username
        ? "Remove the credentials from the URL, and send them in `headers`."
        : "Give a complete URL, for example https://models.example.com.",
    });
  }
  const base = origin + pathname.replace(/\/+$/, "");
  const store = name ?? base;
  return readingCheckedKeys({
    name: store,
    timeoutMs,
    async open(key, signal, range) {
      const all = range ? { ...headers, ...rangeHeader(range) } : headers;
      const response = await send(`${base}/${urlPath(key)}${search}`, { headers: all, signal, redirect: "manual" });
      if (response.ok) return rangeOf(response, range);
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      if (isRedirect(response.status)) {
        throw storageError(store, key, "the server redirects requests, and redirects are not followed", {
          hint: "Set the store's URL to the address that answers.",
        });
      }
      throw storageError(store, key, `HTTP ${response.status}`);
    },
  });
}
