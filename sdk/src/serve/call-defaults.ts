import { BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import type { Tier } from "./contract/headers.ts";
import { isBudget } from "./routing/deadline.ts";
import { isTier } from "./routing/pin.ts";

/** Settings of a request that does not ask for others. */
export interface CallDefaults {
  /** Latency budget in milliseconds. Default: none. */
  readonly latencyBudgetMs?: number | undefined;
  /**
   * The only tier that may answer. With `edge`, texts never leave the edge, unless the request itself asks for another
   * tier. Default: the deployment chooses.
   */
  readonly tier?: Tier | undefined;
}

/** Limits of a key, for each process or isolate. Default: none. */
export interface KeyLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly textsPerMinute?: number | undefined;
}

/** Names of the limits of a key. */
export const perMinute: readonly (keyof KeyLimits)[] = ["requestsPerMinute", "tokensPerMinute", "textsPerMinute"];

/** An API key, its limits, and what its requests get when they do not ask for anything else. */
export interface KeyWithDefaults extends CallDefaults, KeyLimits {
  /** The key, or `sha256:<hex>` as `bert-edge keys hash` prints it. */
  readonly key: string;
  /**
   * Name for logs and limits: 1 to 64 letters, digits, `_`, `.` and `-`. Keys with the same name share their limits. Default:
   * `key-` and the first 8 digits of its SHA-256.
   */
  readonly name?: string | undefined;
}

/** A key, `sha256:<hex>`, `<name>:sha256:<hex>`, or an object with options. */
export type ApiKey = string | KeyWithDefaults;

/**
 * Checks defaults, because plain JavaScript and settings of the environment can give anything.
 *
 * @param place where the defaults are: `defaults`, or `keys`
 * @throws BertEdgeError `setting_invalid`
 */
export function checkDefaults({ latencyBudgetMs, tier }: CallDefaults, place: string): void {
  if (latencyBudgetMs !== undefined && !isBudget(latencyBudgetMs)) {
    throw new BertEdgeError(
      "setting_invalid",
      `In the option ${place}, latencyBudgetMs is ${shown(latencyBudgetMs)}.`,
      {
        hint: "Give a positive number of milliseconds below 10⁹, or leave it out.",
      },
    );
  }
  if (tier !== undefined && !isTier(tier)) {
    throw new BertEdgeError("setting_invalid", `In the option ${place}, tier is ${shown(tier)}.`, {
      hint: 'Give "edge" or "region", or leave it out.',
    });
  }
}
