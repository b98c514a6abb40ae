import type { MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { perMinute } from "../call-defaults.ts";
import { type Spending, spending } from "../keys/spending.ts";
import { keyOf } from "./api-key.ts";
import { answerOf } from "./note-answer.ts";

const nouns = { requestsPerMinute: "requests", tokensPerMinute: "tokens", textsPerMinute: "texts" } as const;

/**
 * Keeps keys to their limits per minute. Requests count when they arrive. Texts and tokens count when they have been computed,
 * so a request is refused only after earlier ones have used up the limit. Keys with the same name share their limits. Every
 * process, and every isolate of a Worker, counts for itself.
 *
 * @throws BertEdgeError `rate_limited`
 */
export function limitKey(now?: () => number): MiddlewareHandler {
  const byName = new Map<string, Spending>();
  return async function limitKey(c, next) {
    const key = keyOf(c);
    if (!key || perMinute.every((limit) => key[limit] === undefined)) return next();
    const limits = Object.fromEntries(perMinute.map((limit) => [limit, key[limit]]));
    const spent = byName.get(key.name) ?? spending(now);
    byName.set(key.name, spent);
    const request = { requestsPerMinute: 1 };
    const over = spent.over(limits, request);
    if (over) {
      const limit = over.limit as keyof typeof nouns;
      throw new BertEdgeError(
        "rate_limited",
        `The key ${key.name} may send ${key[limit]} ${nouns[limit]} per minute.`,
        {
          hint: "Send the request again after the time in the header retry-after-ms.",
          retryAfterMs: over.waitMs,
        },
      );
    }
    spent.add(limits, request);
    await next();
    const answer = answerOf(c);
    if (answer) spent.add(limits, { tokensPerMinute: answer.tokens, textsPerMinute: answer.texts });
  };
}
