import type { Target, TargetName } from "../../../artifact/manifest.ts";
import type { LatencyFit } from "../../../artifact/measurements.ts";
import type { Platform, Prices, Sourced } from "./platforms.ts";

/** The needs of a target. */
export interface TargetNeeds {
  readonly engine: Target["engine"];
  /** Bytes of memory of the process or isolate; undefined if not known. */
  readonly memory: number | undefined;
  /** Bytes of the code, without the model. */
  readonly code: number;
  /** Milliseconds for a request on one core; undefined if not measured. */
  readonly ms: number | undefined;
}

export type LimitName = "memory" | "code" | "time";

/** A limit of a platform, and what a request or process takes of it: bytes, or milliseconds. */
export interface LimitUse {
  readonly limit: LimitName;
  readonly used: number;
  readonly allowed: number;
}

export type PlatformSource = Omit<Sourced, "value">;

/** Whether a target fits a platform. */
export interface PlatformFit {
  readonly platform: string;
  readonly name: string;
  readonly target: TargetName;
  readonly engine: Target["engine"];
  readonly fits: boolean;
  /** The limit of which the target uses the largest share. The target exceeds this limit, or would reach it first. */
  readonly binding: LimitUse;
  readonly limits: readonly LimitUse[];
  /** Milliseconds for a request on this platform; undefined if not predicted. */
  readonly ms: number | undefined;
  /** Maximum number of requests per day; undefined if they are not limited. */
  readonly requestsPerDay: number | undefined;
  /** US dollars per million requests; undefined if the time is not predicted. 0 on plans that charge nothing. */
  readonly costPerMillion: number | undefined;
  /** US dollars per hour of computation. */
  readonly costPerHour: number;
  /** Where the platform's limits and prices are from. */
  readonly sources: readonly PlatformSource[];
}

/**
 * Compares what a target needs with a platform's limits. Needs that are not known are not compared.
 *
 * @returns undefined if nothing is known that could be compared
 */
export function fitOf(platform: Platform, needs: TargetNeeds): PlatformFit | undefined {
  const ms = needs.ms === undefined ? undefined : needs.ms / Math.min(platform.cores ?? 1, 1);
  const used: Readonly<Record<LimitName, number | undefined>> = { memory: needs.memory, code: needs.code, time: ms };
  const limits = (Object.keys(used) as LimitName[]).flatMap((limit): LimitUse[] => {
    const [use, allowed] = [used[limit], platform.limits[limit]?.value];
    return use === undefined || allowed === undefined ? [] : [{ limit, used: use, allowed }];
  });
  const [binding] = limits.toSorted((a, b) => b.used / b.allowed - a.used / a.allowed);
  if (!binding) return undefined;
  return {
    platform: platform.id,
    name: platform.name,
    target: platform.target,
    engine: needs.engine,
    fits: binding.used <= binding.allowed,
    binding,
    limits,
    ms,
    requestsPerDay: platform.requestsPerDay?.value,
    costPerMillion: costPerMillion(platform.prices, ms),
    costPerHour: 3600 * pricePerSecond(platform.prices),
    sources: sourcesOf(platform),
  };
}

/**
 * Returns the cost of a million requests that are computed one after the other, in US dollars.
 *
 * @param ms milliseconds for each request
 */
export function costPerMillion(prices: Prices | undefined, ms: number | undefined): number | undefined {
  if (!prices) return 0;
  if (ms === undefined) return undefined;
  const { perMillionRequests, roundUpMs } = prices;
  const charged = roundUpMs === undefined ? ms : Math.ceil(ms / roundUpMs) * roundUpMs;
  // A million requests of n milliseconds take n · 1000 seconds.
  return (perMillionRequests?.value ?? 0) + 1000 * charged * pricePerSecond(prices);
}

/** Returns the source pages of a platform's numbers, each once. */
function sourcesOf({ limits, requestsPerDay, prices }: Platform): PlatformSource[] {
  const parts = prices?.perSecond.map(({ price }) => price) ?? [];
  const numbers = [...Object.values(limits), requestsPerDay, prices?.perMillionRequests, ...parts];
  const known = new Map(numbers.flatMap((each) => (each ? [[each.source, each.asOf] as const] : [])));
  return [...known].map(([source, asOf]) => ({ source, asOf }));
}

const pricePerSecond = (prices: Prices | undefined): number =>
  (prices?.perSecond ?? []).reduce((sum, { price, amount }) => sum + price.value * amount, 0);

/** Bytes that weights may take of an isolate's memory: three quarters. The rest is for activations and JavaScript. */
export const MAX_WEIGHT_BYTES = 0.75 * 128 * 2 ** 20;

/** Lengths in tokens for which latency is reported. */
const LENGTHS = [8, 32, 128, 512];

/** Returns the reported lengths for a model: up to its maximum, which replaces the longer ones. */
export const reportedLengths = (maxTokens: number): number[] => [
  ...new Set(LENGTHS.map((length) => Math.min(length, maxTokens))),
];

/** Predicts the milliseconds for one text of `tokens` tokens from a latency fit. */
export const predictedMs = ({ base, perToken, perSquare }: LatencyFit, tokens: number): number =>
  base + perToken * tokens + perSquare * tokens ** 2;
