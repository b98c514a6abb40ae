import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { backgroundOf } from "../../runtime/background.ts";
import { type CurrentKeys, findKey } from "../keys/key-ring.ts";
import { countGuesses } from "../keys/spending.ts";
import { note } from "./variables.ts";

/**
 * Accepts a request only if it sends one of the keys as `Authorization: Bearer <key>`, or as `x-api-key` where a platform
 * takes `Authorization` for itself. If no keys are configured, every request is refused, because a missing setting must not
 * open a deployment. White space around keys, and empty keys, are ignored, because lists are often written as `a, b`.
 *
 * An address that has sent many wrong keys gets `rate_limited` for further wrong keys. The right key is always accepted, because
 * callers share addresses: those in one network, and all Workers of other zones. Otherwise, one caller could lock out others.
 *
 * @throws BertEdgeError `keys_not_configured`, `key_missing`, `key_wrong`, `rate_limited`
 */
export function apiKey<Env extends object>(
  current: CurrentKeys<Env>,
  now?: () => number,
): MiddlewareHandler<{ Bindings: Env }> {
  const countGuess = countGuesses(now);
  return async function checkApiKey(c: Context, next) {
    const known = await current(c.env, backgroundOf(c));
    if (known.length === 0) {
      throw new BertEdgeError("keys_not_configured", "This deployment has no API keys.", {
        hint: "Set API_KEYS to one or more comma-separated keys. On Workers, run `wrangler secret put API_KEYS`.",
      });
    }
    const authorization = c.req.header("authorization") ?? "";
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    const sent = bearer ?? c.req.header("x-api-key")?.trim() ?? "";
    if (sent === "") {
      const found =
        authorization.trim() === ""
          ? "The request has no API key."
          : "The header Authorization has no `Bearer` before its key.";
      throw new BertEdgeError("key_missing", found, { hint: "Send the header `Authorization: Bearer <key>`." });
    }
    const key = await findKey(known, sent);
    if (!key) {
      const retryAfterMs = countGuess(callerAddress(c));
      const hint = "Send one of the keys in the deployment's API_KEYS";
      throw retryAfterMs === undefined
        ? new BertEdgeError("key_wrong", "The API key is not valid for this deployment.", { hint: `${hint}.` })
        : new BertEdgeError("rate_limited", "This address has sent too many wrong API keys.", {
            hint: `${hint}: it is accepted at once.`,
            retryAfterMs,
          });
    }
    note(c, "key", key);
    await next();
  };
}

/** Number of 16-bit groups of an IPv6 address that identify its network. The caller can choose the other 64 bits. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** Returns the caller's address on Cloudflare; for IPv6, its /64 network. Undefined elsewhere, because callers could forge the header. */
export function callerAddress(c: Context): string | undefined {
  // Workers give every request `cf`, which a header cannot forge.
  const isOnCloudflare = (c.req.raw as { cf?: unknown }).cf !== undefined;
  const address = isOnCloudflare ? c.req.header("cf-connecting-ip") : undefined;
  return address?.includes(":") ? networkOf(address) : address;
}

/** Returns the network of an IPv6 address: `2001:db8:0:0::/64` for `2001:db8::1`. */
function networkOf(address: string): string {
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill("0");
  return `${[...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(":")}::/64`;
}
