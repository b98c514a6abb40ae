import { BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import { meantNames } from "../artifact/similar-names.ts";
import { isTruncation, type Truncation } from "../runtime/truncation.ts";
import { type BudgetSetter, UNLIMITED_MS } from "./contract/decision.ts";
import type { Tier } from "./contract/headers.ts";
import { isBudget } from "./routing/deadline.ts";

/** Settings of a request that does not ask for others. */
export interface CallDefaults {
  /** Latency budget in milliseconds. Requests can give another one, or `none`. Default: none. */
  readonly latencyBudgetMs?: number | undefined;
  /** Longest budget in milliseconds. A request that gives a longer one, or none, has this one. Default: any. */
  readonly maxLatencyBudgetMs?: number | undefined;
  /** The only tier that may answer a request that names none. With `edge`, its texts stay there. Default: either. */
  readonly tier?: Tier | undefined;
  /**
   * Whether texts that are too long are cut, and where, if a request does not say. Default: as each route does it. OpenAI's and our
   * own refuse them.
   */
  readonly truncate?: Truncation | undefined;
}

/** Limits of a key, for each process or isolate. Default: none. */
export interface KeyLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly textsPerMinute?: number | undefined;
  /** Requests that may be in flight at a time: their answers have not been sent. */
  readonly requestsInFlight?: number | undefined;
  /** Share of the engine and of the memory, compared with those of other keys. Default 1. */
  readonly weight?: number | undefined;
}

/** Names of the settings of a request. */
export const defaultNames = [
  ...(["latencyBudgetMs", "maxLatencyBudgetMs", "tier", "truncate"] as const),
] satisfies (keyof CallDefaults)[];
/** Names of the limits of a key per minute. */
export const perMinute = ["requestsPerMinute", "tokensPerMinute", "textsPerMinute"] as const;
/** Names of all limits of a key. */
export const limitNames = [...perMinute, "requestsInFlight", "weight"] as const;

/** An API key, its limits, and what its requests get when they do not ask for anything else. */
export interface KeyWithDefaults extends CallDefaults, KeyLimits {
  /** The key, or `sha256:<hex>` as `bert-edge keys hash` prints it. */
  readonly key: string;
  /**
   * Name for logs, limits and jobs: 1 to 64 letters, digits, `_`, `.` and `-`. Keys with the same name are one caller. Default:
   * `key-` and the first 8 digits of its SHA-256.
   */
  readonly name?: string | undefined;
  /** The jobs that it can start again, and whose results it can read: those of keys of its name, or all. Default `own`. */
  readonly jobs?: "own" | "all" | undefined;
}

/** A key, `sha256:<hex>`, `<name>:sha256:<hex>`, or an object with options. */
export type ApiKey = string | KeyWithDefaults;

/** An API key that a deployment accepts. */
export interface KnownKey extends CallDefaults, KeyLimits {
  /** Its name, for logs and limits. A key without a name is called by the first digits of its hash. */
  readonly name: string;
  /** SHA-256 of the key, in 64 hexadecimal digits. */
  readonly sha256: string;
  readonly jobs?: "own" | "all" | undefined;
  /** Whether all keys of the deployment have its name. */
  readonly isAlone: boolean;
  /** The key itself; undefined until a caller has sent it, if only its hash is configured. */
  plain: string | undefined;
}

/** Returns the defaults of a caller's requests: those of its key come before those of the deployment. */
export const defaultsFor = (key: CallDefaults | undefined, deployment: CallDefaults): CallDefaults =>
  ({
    latencyBudgetMs: key?.latencyBudgetMs ?? deployment.latencyBudgetMs,
    maxLatencyBudgetMs: key?.maxLatencyBudgetMs ?? deployment.maxLatencyBudgetMs,
    tier: key?.tier ?? deployment.tier,
    truncate: key?.truncate ?? deployment.truncate,
  }) satisfies Record<keyof CallDefaults, unknown>;

/**
 * Returns the budget of a request: its own, or else the default, up to the longest one. It is `UNLIMITED_MS` without a budget.
 *
 * @param ownMs undefined if the request says nothing about a budget
 */
export function appliedBudget(
  ownMs: number | undefined,
  { latencyBudgetMs: defaultMs, maxLatencyBudgetMs: maxMs = UNLIMITED_MS }: CallDefaults,
): { ms: number; setBy: BudgetSetter } {
  const askedMs = ownMs ?? defaultMs ?? UNLIMITED_MS;
  // A number that is no budget stays, and is refused later.
  const isValid = askedMs === UNLIMITED_MS || isBudget(askedMs);
  if (isValid && askedMs > maxMs) return { ms: maxMs, setBy: "maximum" };
  return { ms: askedMs, setBy: ownMs === undefined && defaultMs !== undefined ? "default" : "caller" };
}

/** Returns the error of a wrong option of a deployment. */
export const optionInvalid = (what: string, hint: string): BertEdgeError =>
  new BertEdgeError("setting_invalid", `The option ${what}.`, { hint });

/**
 * Refuses fields that an option does not have: a misspelt one would have no effect.
 *
 * @param where a place in the option, for the message
 * @throws BertEdgeError `setting_invalid`
 */
export function checkFields(given: object, known: readonly string[], option: string, where = ""): void {
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  throw optionInvalid(
    `${option} has the unknown field ${shown(unknown)}${where}`,
    `Leave it out.${meantNames(unknown, known)} The fields are: ${known.join(", ")}.`,
  );
}

/**
 * Checks defaults, because plain JavaScript and settings of the environment can give anything.
 *
 * @param place where the defaults are: `defaults`, or `keys`
 * @throws BertEdgeError `setting_invalid`
 */
export function checkDefaults(defaults: CallDefaults, place: string): void {
  const check = (name: keyof CallDefaults, isValid: (value: unknown) => boolean, wanted: string): void => {
    const value = defaults[name];
    if (value === undefined || isValid(value)) return;
    const hint = `Give ${wanted}, or leave it out.`;
    throw new BertEdgeError("setting_invalid", `In the option ${place}, ${name} is ${shown(value)}.`, { hint });
  };
  check("latencyBudgetMs", isBudget, "a positive number of milliseconds below 10⁹");
  check("maxLatencyBudgetMs", isBudget, "a positive number of milliseconds below 10⁹");
  check("tier", isTier, '"edge" or "region"');
  check("truncate", isTruncation, 'true, false, "left" or "right"');
}

const TIERS: readonly Tier[] = ["edge", "region"];

export const isTier = (word: unknown): word is Tier => TIERS.some((tier) => tier === word);

/**
 * Reads which tier alone may answer; undefined if the deployment chooses.
 *
 * @param word what the caller says: a tier, or `auto`, which leaves the choice to the deployment
 * @param place names the header or the option in the message
 * @throws BertEdgeError `tier_invalid`
 */
export function readPin(word: string, place: string): Tier | undefined {
  if (word === "auto") return undefined;
  if (isTier(word)) return word;
  throw new BertEdgeError("tier_invalid", `The ${place} is ${JSON.stringify(word)}.`, {
    hint: "Send one of edge, region, auto, or leave it out.",
  });
}
