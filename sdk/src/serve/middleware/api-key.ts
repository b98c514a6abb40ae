import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { backgroundOf } from "../background.ts";
import type { CallDefaults } from "../call-defaults.ts";
import { countGuesses } from "../keys/guesses.ts";
import { keyRing, type ReadKeys } from "../keys/key-ring.ts";
import { findKey, type KnownKey } from "../keys/known-key.ts";
import { callerAddress } from "./caller-address.ts";

const VARIABLE = "bert-edge-key";

/**
 * Accepts a request only if it sends one of the keys as `Authorization: Bearer <key>`, or as `x-api-key` where a platform
 * takes `Authorization` for itself. If no keys are configured, every request is refused, because a missing setting must not
 * open a deployment. White space around keys, and empty keys, are ignored, because lists are often written as `a, b` or with
 * a final newline.
 *
 * An address that has sent many wrong keys gets `rate_limited` for further ones. The right key is always accepted: Cloudflare
 * gives all Workers of other zones one address, and networks share theirs, so one caller could lock out others.
 *
 * @throws BertEdgeError `keys_not_configured`, `key_missing`, `key_wrong`, `rate_limited`
 */
export function apiKey<Env extends object>(
  keys: ReadKeys<Env>,
  now?: () => number,
): MiddlewareHandler<{ Bindings: Env }> {
  const current = keyRing(keys);
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
      throw new BertEdgeError("key_missing", found, {
        hint: "Send the header `Authorization: Bearer <key>`.",
      });
    }
    const key = await findKey(known, sent);
    if (!key) throw wrongKey(countGuess(callerAddress(c)));
    c.set(VARIABLE, key);
    await next();
  };
}

/** @param waitMs time until another wrong key is counted; undefined if the address has not sent too many */
const wrongKey = (waitMs: number | undefined): BertEdgeError =>
  waitMs === undefined
    ? new BertEdgeError("key_wrong", "The API key is not valid for this deployment.", {
        hint: "Send one of the keys in the deployment's API_KEYS.",
      })
    : new BertEdgeError("rate_limited", "This address has sent too many wrong API keys.", {
        hint: "Send one of the keys in the deployment's API_KEYS: it is accepted at once.",
        retryAfterMs: waitMs,
      });

/** Returns the key that a request was accepted with; undefined if keys are not checked. */
export const keyOf = (c: Context): KnownKey | undefined => c.get(VARIABLE);

/** Returns the defaults of the key that a request was accepted with; undefined if keys are not checked. */
export const keyDefaultsOf = (c: Context): CallDefaults | undefined => c.get(VARIABLE);
