import { BertEdgeError } from "../../artifact/error.ts";
import type { Accuracy } from "../../artifact/manifest.ts";

/** Minimum accuracy of a rewritten model, compared with the float32 model. */
export interface Limit {
  readonly meanCosine: number;
  readonly minCosine: number;
  /** Maximum decrease of the task's score, on a scale of 100. */
  readonly maxDrop: number;
  /** Minimum share of texts that keep their label, from 0 to 1. For classifiers. */
  readonly minTop1: number;
}

/** Limit for fused graphs. Fusion only changes the order of float32 sums, which lowers cosines by less than 1e-6. */
export const FP32_LIMIT: Limit = { meanCosine: 0.999_999, minCosine: 0.999_99, maxDrop: 0, minTop1: 1 };

/** Limit for fp16. all-MiniLM-L6-v2 measures a mean cosine of 0.999 999 and a minimum of 0.999 998. */
export const FP16_LIMIT: Limit = { meanCosine: 0.9999, minCosine: 0.9995, maxDrop: 0.1, minTop1: 0.99 };

/**
 * Limit for int8. With the fastest scheme, all-MiniLM-L6-v2 measures mean and minimum cosines of 0.9946 and 0.974 on
 * STS-B (docs/accuracy.md), and of 0.993 and 0.978 on the probe texts.
 */
export const INT8_LIMIT: Limit = { meanCosine: 0.99, minCosine: 0.965, maxDrop: 0.5, minTop1: 0.95 };

/**
 * Limit for the edge engine with weights of 4 bits. all-MiniLM-L6-v2 in 13.5 MB measures 0.992 and 0.954 on the probe texts, and 0.992
 * and 0.959 on STS-B.
 */
export const INT4_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.985, minCosine: 0.94 };

/**
 * Limit for int8-static, which has one fixed scale per tensor. all-MiniLM-L6-v2 measures a mean cosine of 0.982 and a
 * minimum of 0.95.
 */
export const STATIC_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.97, minCosine: 0.93 };

/**
 * Limit for int8 on random tokens, which are unlike training data. all-MiniLM-L6-v2 measures a mean cosine of 0.990 and
 * a minimum of 0.972.
 */
export const RANDOM_TOKENS_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.98, minCosine: 0.95 };

/** @throws BertEdgeError `accuracy_gate` when a fused graph misses the limit */
export function assertWithin(what: string, measured: Accuracy, limit: Limit): void {
  const missing = shortfall(measured, limit);
  if (missing === undefined) return;
  throw accuracyError(
    what,
    missing,
    "This is a bug in the fusion, not in the model. Report it with the model's config.json.",
  );
}

/**
 * Returns the error for a model that misses a limit.
 *
 * @param details text after the first sentence of the message
 */
export const accuracyError = (what: string, missing: string, hint: string, details = ""): BertEdgeError =>
  new BertEdgeError("accuracy_gate", `${what} differs too much from the float32 model: ${missing}.${details}`, {
    hint: `Nothing was written. ${hint}`,
  });

/** Describes how a measurement misses a limit; undefined when it reaches the limit. NaN never reaches a limit. */
export function shortfall({ parity, task }: Accuracy, limit: Limit): string | undefined {
  const { meanCosine, minCosine, top1, cases, lengths = [] } = parity;
  const reasons = [
    meanCosine >= limit.meanCosine || `mean cosine ${figure(meanCosine)} (must be at least ${limit.meanCosine})`,
    minCosine >= limit.minCosine || `worst cosine ${figure(minCosine)} (must be at least ${limit.minCosine})`,
    ...lengths.map(
      ({ tokens, meanCosine }) =>
        meanCosine >= limit.minCosine ||
        `mean cosine ${figure(meanCosine)} of texts of ${tokens} tokens (must be at least ${limit.minCosine})`,
    ),
    top1 === undefined ||
      top1 >= limit.minTop1 ||
      `the same label for ${figure(100 * top1)} % of texts (must be at least ${100 * limit.minTop1} %)`,
    task === undefined ||
      task.score >= task.fp32 - limit.maxDrop ||
      `${task.metric} ${task.score.toFixed(2)} instead of ${task.fp32.toFixed(2)} (may drop by at most ${limit.maxDrop})`,
  ].filter((reason) => typeof reason === "string");
  return reasons.length > 0 ? `${reasons.join(", ")} over ${cases} texts` : undefined;
}

const figure = (value: number): string => (Number.isNaN(value) ? "NaN" : value.toFixed(5));
