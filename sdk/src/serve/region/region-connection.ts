import { AwsClient } from "aws4fetch";
import type { RegionSettings } from "./region-settings.ts";

/** Sends requests to the region. */
export interface RegionConnection {
  /** Names the region in messages. */
  readonly host: string;
  /** Sends `POST /v1/embed` with a JSON body, and with the key. */
  post(body: object, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
  /** Sends `GET /ready`, without the key. The region answers 200 when it can answer requests. */
  probe(signal: AbortSignal): Promise<Response>;
}

/**
 * Connects to the region. Redirects are not followed, because texts would go to an address that nobody has configured.
 * Workers know only `manual`, and with it a redirect arrives as a response with its status.
 */
export function regionConnection({ base, key, aws }: RegionSettings, fetcher: typeof fetch): RegionConnection {
  const signer = aws && new AwsClient(aws);
  // AWS fills `Authorization` with its signature.
  const access = signer ? key !== "" && { "x-api-key": key } : { authorization: `Bearer ${key}` };

  async function send(path: string, init: RequestInit, signal: AbortSignal, unsigned = {}): Promise<Response> {
    const url = new URL(path, base).href;
    const request = signer ? await signer.sign(url, init) : new Request(url, init);
    // These headers are not signed, because gateways and platforms may change them on the way.
    for (const [name, value] of Object.entries<string>(unsigned)) request.headers.set(name, value);
    // The signal is passed to `fetch` and not to the Request, because Node can lose the signal of a Request.
    return fetcher(request, { signal, redirect: "manual" });
  }

  return {
    host: base.host,
    post: (body, headers, signal) =>
      send(
        "v1/embed",
        {
          method: "POST",
          headers: { ...access, "content-type": "application/json" },
          body: JSON.stringify(body),
        },
        signal,
        headers,
      ),
    probe: (signal) => send("ready", { method: "GET" }, signal),
  };
}
