import { BertEdgeError } from "../../artifact/error.ts";
import { type KnownKey, perMinute } from "../call-defaults.ts";
import type { Cost } from "../service.ts";

/** Amounts of requests, texts or tokens, by the name of their limit. Limits are amounts per minute; undefined means no limit. */
type Amounts = Readonly<Record<string, number | undefined>>;

const MINUTE_MS = 60_000;

/** Counts what a caller spends. The count falls evenly with time: a limit of 60 per minute gives one back each second. */
export function spending(now: () => number = Date.now) {
  const spent = new Map<string, { amount: number; at: number }>();

  /** Returns the limits that are set, with the amounts that still count. */
  const counted = (limits: Amounts) =>
    Object.entries(limits).flatMap(([limit, perMinute]) => {
      if (perMinute === undefined) return [];
      const { amount, at } = spent.get(limit) ?? { amount: 0, at: 0 };
      return { limit, perMinute, left: Math.max(0, amount - ((now() - at) * perMinute) / MINUTE_MS) };
    });

  return {
    /** Returns the limit that `next` would exceed, and the milliseconds until `next` fits; undefined if `next` fits now. */
    over(limits: Amounts, next: Amounts): { limit: string; waitMs: number } | undefined {
      for (const { limit, perMinute, left } of counted(limits)) {
        const excess = left + (next[limit] ?? 0) - perMinute;
        // Rounding errors of the time must not refuse what fits exactly.
        if (excess > 1e-6) return { limit, waitMs: (excess * MINUTE_MS) / perMinute };
      }
      return undefined;
    },
    /** Adds what was spent. The sum can exceed the limit: the tokens of a request are known only after `over` has let it pass. */
    add(limits: Amounts, amounts: Amounts): void {
      for (const { limit, left } of counted(limits))
        spent.set(limit, { amount: left + (amounts[limit] ?? 0), at: now() });
    },
  };
}

export type Spending = ReturnType<typeof spending>;

/** Makes a function that returns what a caller has spent. To bound memory, it forgets the caller that was looked up longest ago. */
export function spendingByCaller(now?: () => number, maxCallers = 10_000): (caller: string) => Spending {
  const byCaller = new Map<string, Spending>();
  return (caller) => {
    const spent = byCaller.get(caller) ?? spending(now);
    // The last key of a map is the one that was set last.
    byCaller.delete(caller);
    byCaller.set(caller, spent);
    const [oldest] = byCaller.keys();
    if (byCaller.size > maxCallers && oldest !== undefined) byCaller.delete(oldest);
    return spent;
  };
}

/** Maximum number of wrong keys per minute from one address that get `key_wrong`. Further ones get `rate_limited`. */
const LIMIT = { guesses: 30 };

/** Makes a function that counts a wrong key from an address. After too many, it returns the milliseconds to wait. */
export function countGuesses(now?: () => number): (address: string | undefined) => number | undefined {
  const guessesOf = spendingByCaller(now);
  return (address) => {
    if (address === undefined) return undefined;
    const guesses = guessesOf(address);
    const over = guesses.over(LIMIT, { guesses: 1 });
    if (!over) guesses.add(LIMIT, { guesses: 1 });
    return over?.waitMs;
  };
}

const nouns = { requestsPerMinute: "requests", tokensPerMinute: "tokens", textsPerMinute: "texts" } as const;

/**
 * Counts a request of a key. Returns a function to call with the request's work so far, each time with the total; undefined if
 * the key has no limits per minute.
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
  const spentBy = spendingByCaller(now);
  return function beginRequest(key) {
    if (perMinute.every((limit) => key[limit] === undefined)) return undefined;
    const limits = Object.fromEntries(perMinute.map((limit) => [limit, key[limit]]));
    const spent = spentBy(key.name);
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
