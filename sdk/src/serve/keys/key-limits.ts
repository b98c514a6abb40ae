import { BertEdgeError } from "../../artifact/error.ts";
import { type KnownKey, perMinute } from "../call-defaults.ts";
import type { Cost } from "../service.ts";
import { type Spending, spending } from "./spending.ts";

const nouns = { requestsPerMinute: "requests", tokensPerMinute: "tokens", textsPerMinute: "texts" } as const;

/**
 * Counts a request of a key. Returns a function that is told about the request's work, each time about all of it; undefined if
 * the key has no limits.
 *
 * @throws BertEdgeError `rate_limited`
 */
export type BeginRequest = (key: KnownKey) => ((work: Cost) => void) | undefined;

/**
 * Keeps keys to their limits per minute. Requests count when they arrive. Texts and tokens count when their computation
 * begins, so a request is refused only after earlier ones have used up the limit. Keys with the same name share their limits. Every
 * process, and every isolate of a Worker, counts for itself.
 */
export function keyLimits(now?: () => number): BeginRequest {
  const byName = new Map<string, Spending>();
  return function beginRequest(key) {
    if (perMinute.every((limit) => key[limit] === undefined)) return undefined;
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
    return (work) => {
      const tokens = Math.max(work.tokens, counted.tokens);
      const texts = Math.max(work.texts, counted.texts);
      spent.add(limits, { tokensPerMinute: tokens - counted.tokens, textsPerMinute: texts - counted.texts });
      counted = { tokens, texts };
    };
  };
}

export const rateLimited = (found: string, retryAfterMs: number): BertEdgeError =>
  new BertEdgeError("rate_limited", found, {
    hint: "Send the request again after the time in the header retry-after-ms.",
    retryAfterMs,
  });
