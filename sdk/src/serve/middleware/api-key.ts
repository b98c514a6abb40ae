import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ApiKey, CallDefaults, KeyWithDefaults } from "../call-defaults.ts";

const VARIABLE = "bert-edge-key";

/**
 * Accepts a request only if it sends one of the keys as `Authorization: Bearer <key>`, or as `x-api-key` where a platform
 * takes `Authorization` for itself. If no keys are configured, every request is refused, because a missing setting must not
 * open a deployment. White space around keys, and empty keys, are ignored, because lists are often written as `a, b` or with
 * a final newline.
 *
 * @throws BertEdgeError `keys_not_configured`, `key_missing`, `key_wrong`
 */
export function apiKey<Env extends object>(
  keys: (env: Env) => readonly ApiKey[],
): MiddlewareHandler<{ Bindings: Env }> {
  return async function checkApiKey(c: Context, next) {
    const known = keys(c.env)
      .map((key) => (typeof key === "string" ? { key } : key))
      .map((each): KeyWithDefaults => ({ ...each, key: each.key.trim() }))
      .filter(({ key }) => key !== "");
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
      throw new BertEdgeError("key_missing", found, {
        hint: "Send the header `Authorization: Bearer <key>`.",
      });
    }
    const matches = known.map(({ key }) => isEqual(key, sent));
    if (!matches.includes(true)) {
      throw new BertEdgeError("key_wrong", "The API key is not valid for this deployment.", {
        hint: "Send one of the keys in the deployment's API_KEYS.",
      });
    }
    c.set(VARIABLE, known[matches.indexOf(true)]);
    await next();
  };
}

/**
 * Compares a key with what was sent, in a time that depends on the length of what was sent only. Digests would hide the
 * length too, but they took 8 % of the time of a busy edge, and Web Crypto makes each request wait for the event loop.
 */
function isEqual(key: string, sent: string): boolean {
  let difference = key.length ^ sent.length;
  // Beyond the end of the key, the code is NaN, which counts as 0.
  for (let i = 0; i < sent.length; i++) difference |= key.charCodeAt(i) ^ sent.charCodeAt(i);
  return difference === 0;
}

/** Returns the defaults of the key that a request was accepted with; undefined if keys are not checked. */
export const keyDefaultsOf = (c: Context): CallDefaults | undefined => c.get(VARIABLE);
