import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { type BeginRequest, rateLimited, spendingByCaller } from "../keys/spending.ts";
import { callerAddress } from "./api-key.ts";
import { note, noted } from "./variables.ts";

/** Refuses requests of keys that have reached a limit per minute. @throws BertEdgeError `rate_limited` */
export function limitKey(begin: BeginRequest): MiddlewareHandler {
  return async function limitKey(c, next) {
    const key = noted(c, "key");
    const count = key && begin(key);
    if (!count) return next();
    note(c, "onWork", count);
    await next();
    const answer = noted(c, "answer");
    if (answer) count(answer);
  };
}

/** Cloudflare's rate limiting: https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/ */
export interface RateLimiter {
  limit(options: { key: string }): Promise<{ success: boolean }>;
}

export interface RateLimit {
  /** Maximum requests of a caller per minute. This process or isolate counts them if there is no `binding`, or if it fails. */
  readonly requestsPerMinute: number;
  /** Cloudflare's binding, which counts per location. The limit and period in wrangler.toml apply. */
  readonly binding?: RateLimiter | undefined;
  /** Period of the binding in seconds, for `retry-after`: 10 or 60. Default 60. */
  readonly periodSeconds?: 10 | 60 | undefined;
}

/**
 * Limits the requests of each caller. The caller is the key's name, or the address if keys are not checked.
 *
 * @throws BertEdgeError `rate_limited`, `setting_invalid`
 */
export function limitRate<Env extends object>(
  rateLimit: (env: Env) => RateLimit | undefined,
  now?: () => number,
): MiddlewareHandler<{ Bindings: Env }> {
  const spentBy = spendingByCaller(now);

  function takeHere(caller: string, requests: number): number | undefined {
    const spent = spentBy(caller);
    const over = spent.over({ requests }, { requests: 1 });
    if (!over) spent.add({ requests }, { requests: 1 });
    return over?.waitMs;
  }

  return async function limitRate(c: Context, next) {
    const limit = rateLimit(c.env);
    if (!limit) return next();
    const { requestsPerMinute, binding, periodSeconds = 60 } = limit;
    if (!(requestsPerMinute >= 1 && requestsPerMinute < Number.POSITIVE_INFINITY)) {
      const found = `In the option rateLimit, requestsPerMinute is ${requestsPerMinute}.`;
      throw new BertEdgeError("setting_invalid", found, { hint: "Give a number of 1 or more." });
    }
    const caller = callerOf(c);
    const bound = await binding?.limit({ key: caller }).catch(logFailure);
    const waitMs = bound ? (bound.success ? undefined : periodSeconds * 1_000) : takeHere(caller, requestsPerMinute);
    if (waitMs !== undefined) {
      const figure = bound ? "its limit of requests" : `its ${requestsPerMinute} requests per minute`;
      throw rateLimited(`This caller has used up ${figure}.`, waitMs);
    }
    await next();
  };
}

function logFailure(error: unknown): undefined {
  console.error("bert-edge: The binding of rateLimit failed. This isolate counts by itself.", error);
}

/** Returns the name of the caller's counter. Only Cloudflare gives reliable addresses: elsewhere, callers without a key share a counter. */
function callerOf(c: Context): string {
  const key = noted(c, "key");
  if (key) return `key:${key.name}`;
  const address = callerAddress(c);
  return address ? `address:${address}` : "everyone";
}
