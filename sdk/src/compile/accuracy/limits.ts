import { BertEdgeError } from "../../artifact/error.ts";
import type { Accuracy } from "../../artifact/manifest.ts";

/** The accuracy that a rewritten model must reach, compared with the float32 model. */
export interface Limit {
  readonly meanCosine: number;
  readonly minCosine: number;
  /** Points of the task's score that may be lost. */
  readonly maxDrop: number;
  /** Share of texts that must keep their label, for classifiers. */
  readonly minTop1: number;
}

/** Fusion only changes the order of float32 sums, which is below 1e-6. */
export const FP32_LIMIT: Limit = { meanCosine: 0.999_999, minCosine: 0.999_99, maxDrop: 0, minTop1: 1 };

/** fp16 has 11 significant bits: all-MiniLM-L6-v2 measures 0.999 999 / 0.999 998 (mean / min cosine). */
export const FP16_LIMIT: Limit = { meanCosine: 0.9999, minCosine: 0.9995, maxDrop: 0.1, minTop1: 0.99 };

/** all-MiniLM-L6-v2 measures 0.9946 / 0.974 on STS-B with the fastest scheme, 0.993 / 0.978 on the probe texts: docs/accuracy.md. */
export const INT8_LIMIT: Limit = { meanCosine: 0.99, minCosine: 0.965, maxDrop: 0.5, minTop1: 0.95 };

/** One scale per tensor, found beforehand: all-MiniLM-L6-v2 measures 0.982 / 0.95. Models trained for it lose less. */
export const STATIC_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.97, minCosine: 0.93 };

/** Random tokens are further from what models are trained on: all-MiniLM-L6-v2 measures 0.990 / 0.972. */
export const RANDOM_TOKENS_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.98, minCosine: 0.95 };

/** @throws BertEdgeError `accuracy_gate` when a fused graph misses the limit */
export function assertWithin(what: string, measured: Accuracy, limit: Limit): void {
  const missing = shortfall(measured, limit);
  if (missing === undefined) return;
  throw accuracyError(
    what,
    missing,
    "This is a fault of the fusion, not of the model: report it with the config.json.",
  );
}

/**
 * Makes the error of a model that misses a limit.
 *
 * @param details text after the first sentence of the message
 */
export const accuracyError = (what: string, missing: string, hint: string, details = ""): BertEdgeError =>
  new BertEdgeError("accuracy_gate", `${what} differs too much from the float32 model: ${missing}.${details}`, {
    hint: `Nothing was written. ${hint}`,
  });

/** Says where a measurement misses a limit; undefined when it reaches it. NaN never does. */
export function shortfall({ parity, task }: Accuracy, limit: Limit): string | undefined {
  const { meanCosine, minCosine, top1, cases } = parity;
  const reasons = [
    meanCosine >= limit.meanCosine || `mean cosine ${figure(meanCosine)} (at least ${limit.meanCosine})`,
    minCosine >= limit.minCosine || `worst cosine ${figure(minCosine)} (at least ${limit.minCosine})`,
    top1 === undefined ||
      top1 >= limit.minTop1 ||
      `${figure(100 * top1)} % the same label (at least ${100 * limit.minTop1} %)`,
    task === undefined ||
      task.score >= task.fp32 - limit.maxDrop ||
      `${task.metric} ${task.score.toFixed(2)} instead of ${task.fp32.toFixed(2)} (at most ${limit.maxDrop} less)`,
  ].filter((reason) => typeof reason === "string");
  return reasons.length > 0 ? `${reasons.join(", ")} over ${cases} texts` : undefined;
}

const figure = (value: number): string => (Number.isNaN(value) ? "NaN" : value.toFixed(5));
