import { AwsClient } from "aws4fetch";
import type { HttpRegionSettings } from "../region-settings.ts";
import type { Transport } from "./transport.ts";

/**
 * Sends requests over HTTPS: with the key as Bearer token, or signed for AWS. Redirects are not followed, because texts
 * would go to an address that nobody has configured. Workers know only `manual`, and with it a redirect arrives as a
 * response with its status.
 */
export function overHttps({ base, key, aws }: HttpRegionSettings, fetcher: typeof fetch): Transport {
  const signer = aws && new AwsClient(aws);
  // AWS fills `Authorization` with its signature.
  const access = key !== "" && (signer ? { "x-api-key": key } : { authorization: `Bearer ${key}` });

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
    settings: ["REGION_URL", "REGION_KEY"],
    post(path, body, headers, signal) {
      const init = {
        method: "POST",
        headers: { ...access, "content-type": "application/json" },
        body: JSON.stringify(body),
      };
      return send(path, init, signal, headers);
    },
    get: (path, { withKey }, signal) =>
      send(path, { method: "GET", ...(withKey && access && { headers: access }) }, signal),
  };
}
