import { cpus } from "node:os";
import type { Manifest, Target, TargetName } from "../../../artifact/manifest.ts";
import type { Measurements } from "../../../artifact/measurements.ts";
import { fitOf, type PlatformFit, predictedMs, reportedLengths } from "./fit.ts";
import { platforms } from "./platforms.ts";
import { targetNeeds } from "./target-needs.ts";

/** Predicted latency of an artifact's targets, the platforms that they fit, and their costs. */
export interface Forecast {
  readonly latency: PredictedLatency;
  readonly fit: FitTable;
}

/** Predicted milliseconds for one text on one thread. */
export interface PredictedLatency {
  /** CPU of the machine that timed the targets. */
  readonly cpu: string;
  /** Lengths of the text. */
  readonly tokens: readonly number[];
  /** A number for each length. Targets that were not timed are missing. */
  readonly ms: Readonly<Partial<Record<TargetName, readonly number[]>>>;
}

export interface FitTable {
  /** Tokens of each request. */
  readonly tokens: number;
  readonly platforms: readonly PlatformFit[];
}

/** Tokens of a typical request: a paragraph. */
const REQUEST_TOKENS = 128;

/**
 * Predicts latency from the artifact's latency fits, and compares each target with the platforms that it is for.
 *
 * @param cpu name of the CPU that the measurements are from
 */
export function forecastOf(
  manifest: Manifest,
  measurements: Measurements,
  cpu = cpus()[0]?.model.trim() ?? "an unknown CPU",
): Forecast {
  const tokens = reportedLengths(manifest.maxTokens);
  const ms: Partial<Record<TargetName, readonly number[]>> = {};
  for (const name of Object.keys(manifest.targets) as TargetName[]) {
    const fit = measurements[name]?.latency;
    if (fit) ms[name] = tokens.map((length) => predictedMs(fit, length));
  }
  const requestTokens = Math.min(REQUEST_TOKENS, manifest.maxTokens);
  const fits = platforms.flatMap((platform) => {
    const target: Target | undefined = manifest.targets[platform.target];
    if (!target) return [];
    const measured = measurements[platform.target] ?? {};
    return fitOf(platform, targetNeeds(manifest, platform.target, target, measured, requestTokens)) ?? [];
  });
  return { latency: { cpu, tokens, ms }, fit: { tokens: requestTokens, platforms: fits } };
}
