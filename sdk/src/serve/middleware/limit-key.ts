import type { MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { perMinute } from "../call-defaults.ts";
import { type Spending, spending } from "../keys/spending.ts";
import type { Cost } from "../service.ts";
import { keyOf } from "./api-key.ts";
import { answerOf, setOnWork } from "./note-answer.ts";

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
    let counted: Cost = { tokens: 0, texts: 0 };
    const count = (work: Cost) => {
      const tokens = Math.max(work.tokens, counted.tokens);
      const texts = Math.max(work.texts, counted.texts);
      spent.add(limits, { tokensPerMinute: tokens - counted.tokens, textsPerMinute: texts - counted.texts });
      counted = { tokens, texts };
    };
    setOnWork(c, count);
    await next();
    const answer = answerOf(c);
    if (answer) count(answer);
  };
}
