import { BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import { meantNames } from "../artifact/similar-names.ts";
import { isTruncation, type Truncation } from "../runtime/truncation.ts";
import { type BudgetSetter, UNLIMITED_MS } from "./contract/decision.ts";
import type { Tier } from "./contract/headers.ts";
import { isBudget } from "./routing/deadline.ts";

/** Settings that apply to a request unless it sets its own. */
export interface CallDefaults {
  /** Latency budget in milliseconds. Requests can give another one, or `none`. Default: none. */
  readonly latencyBudgetMs?: number | undefined;
  /** Maximum latency budget in milliseconds. It also applies to requests with a longer budget, or with none. Default: no maximum. */
  readonly maxLatencyBudgetMs?: number | undefined;
  /** The only tier that may answer a request that names no tier. With `edge`, its texts do not leave the edge. Default: either tier. */
  readonly tier?: Tier | undefined;
  /**
   * Whether and where to cut texts that are too long, if a request does not say. Default: that of each route. The routes of
   * OpenAI and of bert-edge refuse such texts.
   */
  readonly truncate?: Truncation | undefined;
}

/** Limits of a key. Each process or isolate counts on its own. Default: no limits. */
export interface KeyLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly textsPerMinute?: number | undefined;
  /** Maximum number of requests whose answers have not been sent yet. */
  readonly requestsInFlight?: number | undefined;
  /** Share of the engine and of the memory, relative to the weights of other keys. Default 1. */
  readonly weight?: number | undefined;
}

/** Names of all fields of `CallDefaults`. */
export const defaultNames = [
  ...(["latencyBudgetMs", "maxLatencyBudgetMs", "tier", "truncate"] as const),
] satisfies (keyof CallDefaults)[];
/** Names of a key's limits per minute. */
export const perMinute = ["requestsPerMinute", "tokensPerMinute", "textsPerMinute"] as const;
/** Names of all limits of a key. */
export const limitNames = [...perMinute, "requestsInFlight", "weight"] as const;

/** An API key, its limits, and the default settings of its requests. */
export interface KeyWithDefaults extends CallDefaults, KeyLimits {
  /** The key, or `sha256:<hex>` as `bert-edge keys hash` prints it. */
  readonly key: string;
  /**
   * Name for logs, limits and jobs: 1 to 64 letters, digits, `_`, `.` and `-`. Keys with the same name are one caller. Default:
   * `key-` and the first 8 digits of its SHA-256.
   */
  readonly name?: string | undefined;
  /** Jobs that the key may start again and whose results it may read: `all`, or `own` (of keys with the same name). Default `own`. */
  readonly jobs?: "own" | "all" | undefined;
}

/** A key, `sha256:<hex>`, `<name>:sha256:<hex>`, or an object with options. */
export type ApiKey = string | KeyWithDefaults;

/** An API key that a deployment accepts. */
export interface KnownKey extends CallDefaults, KeyLimits {
  /** Name for logs and limits. Default: `key-` and the first digits of the hash. */
  readonly name: string;
  /** SHA-256 of the key, in 64 hexadecimal digits. */
  readonly sha256: string;
  readonly jobs?: "own" | "all" | undefined;
  /** Whether all keys of the deployment have this name. */
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
 * Returns the budget of a request: its own, or else the default, but at most the maximum. Without a budget, returns `UNLIMITED_MS`.
 *
 * @param ownMs undefined if the request says nothing about a budget
 */
export function appliedBudget(
  ownMs: number | undefined,
  { latencyBudgetMs: defaultMs, maxLatencyBudgetMs: maxMs = UNLIMITED_MS }: CallDefaults,
): { ms: number; setBy: BudgetSetter } {
  const askedMs = ownMs ?? defaultMs ?? UNLIMITED_MS;
  // An invalid number is returned unchanged: `startDeadline` refuses it.
  const isValid = askedMs === UNLIMITED_MS || isBudget(askedMs);
  if (isValid && askedMs > maxMs) return { ms: maxMs, setBy: "maximum" };
  return { ms: askedMs, setBy: ownMs === undefined && defaultMs !== undefined ? "default" : "caller" };
}

/** Returns the error of a wrong option of a deployment. */
export const optionInvalid = (what: string, hint: string): BertEdgeError =>
  new BertEdgeError("setting_invalid", `The option ${what}.`, { hint });

/**
 * Refuses unknown fields of an option: a misspelt field would have no effect.
 *
 * @param where place of the fields in the option, for the message
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
 * @param place name of the option that contains the defaults: `defaults` or `keys`
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
 * Reads the only tier that may answer; undefined if the deployment chooses.
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
