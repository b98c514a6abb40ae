import type { MiddlewareHandler } from "hono";
import { timingSafeEqual } from "hono/utils/buffer";
import { BertEdgeError } from "../../artifact/error.ts";

/**
 * Accepts a request only if it sends one of the keys as `Authorization: Bearer <key>`, or as `x-api-key` where a platform
 * takes `Authorization` for itself. If no keys are configured, every request is refused, because a missing setting must not
 * open a deployment. White space around keys, and empty keys, are ignored, because lists are often written as `a, b` or with
 * a final newline.
 *
 * @throws BertEdgeError `keys_not_configured`, `key_missing`, `key_wrong`
 */
export function apiKey<Env extends object>(
  keys: (env: Env) => readonly string[],
): MiddlewareHandler<{ Bindings: Env }> {
  return async function checkApiKey(c, next) {
    const known = keys(c.env)
      .map((key) => key.trim())
      .filter((key) => key !== "");
    if (known.length === 0) {
      throw new BertEdgeError("keys_not_configured", "This deployment has no API keys.", {
        hint: "Set API_KEYS to one or more comma-separated keys. On Workers, run `wrangler secret put API_KEYS`.",
      });
    }
    const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1];
    const sent = bearer ?? c.req.header("x-api-key")?.trim() ?? "";
    if (sent === "") {
      throw new BertEdgeError("key_missing", "The request has no API key.", {
        hint: "Send the header `Authorization: Bearer <key>`.",
      });
    }
    const matches = await Promise.all(known.map((key) => timingSafeEqual(key, sent)));
    if (!matches.includes(true)) {
      throw new BertEdgeError("key_wrong", "The API key is not valid for this deployment.", {
        hint: "Send one of the keys in the deployment's API_KEYS.",
      });
    }
    await next();
  };
}
