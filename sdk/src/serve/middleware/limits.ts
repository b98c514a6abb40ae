import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { perMinute } from "../call-defaults.ts";
import { type Spending, spending, spendingByCaller } from "../keys/spending.ts";
import type { Cost } from "../service.ts";
import { callerAddress } from "./api-key.ts";
import { note, noted } from "./variables.ts";

const nouns = { requestsPerMinute: "requests", tokensPerMinute: "tokens", textsPerMinute: "texts" } as const;

/**
 * Keeps keys to their limits per minute. Requests count when they arrive. Texts and tokens count when their computation
 * begins, so a request is refused only after earlier ones have used up the limit. Keys with the same name share their limits. Every
 * process, and every isolate of a Worker, counts for itself.
 *
 * @throws BertEdgeError `rate_limited`
 */
export function limitKey(now?: () => number): MiddlewareHandler {
  const byName = new Map<string, Spending>();
  return async function limitKey(c, next) {
    const key = noted(c, "key");
    if (!key || perMinute.every((limit) => key[limit] === undefined)) return next();
    const limits = Object.fromEntries(perMinute.map((limit) => [limit, key[limit]]));
    const spent = byName.get(key.name) ?? spending(now);
    byName.set(key.name, spent);
    const request = { requestsPerMinute: 1 };
    const over = spent.over(limits, request);
    if (over) {
      const limit = over.limit as keyof typeof nouns;
      throw rateLimited(`The key ${key.name} may send ${key[limit]} ${nouns[limit]} per minute.`, over.waitMs);
    }
    spent.add(limits, request);
    let counted: Cost = { tokens: 0, texts: 0 };
    const count = (work: Cost) => {
      const tokens = Math.max(work.tokens, counted.tokens);
      const texts = Math.max(work.texts, counted.texts);
      spent.add(limits, { tokensPerMinute: tokens - counted.tokens, textsPerMinute: texts - counted.texts });
      counted = { tokens, texts };
    };
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
  /** Requests of a caller per minute, which this process or isolate counts without a `binding`, or when it fails. */
  readonly requestsPerMinute: number;
  /** Cloudflare's binding, which counts per location. The limit and period in wrangler.toml apply. */
  readonly binding?: RateLimiter | undefined;
  /** Period of the binding in seconds, for `retry-after`: 10 or 60. Default 60. */
  readonly periodSeconds?: 10 | 60 | undefined;
}

/**
 * Limits the requests of each caller. A caller is a key by its name, or without keys an address.
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

const rateLimited = (found: string, retryAfterMs: number): BertEdgeError =>
  new BertEdgeError("rate_limited", found, {
    hint: "Send the request again after the time in the header retry-after-ms.",
    retryAfterMs,
  });

function logFailure(error: unknown): undefined {
  console.error("bert-edge: The binding of rateLimit failed. This isolate counts by itself.", error);
}

/** Only Cloudflare sets this header so that callers cannot. Elsewhere, callers of open deployments share one counter. */
function callerOf(c: Context): string {
  const key = noted(c, "key");
  if (key) return `key:${key.name}`;
  const address = callerAddress(c);
  return address ? `address:${address}` : "everyone";
}
