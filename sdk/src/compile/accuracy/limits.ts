import type { Accuracy } from "../../artifact/manifest.ts";
import type { ParityLimit } from "./parity.ts";

/** What a target in a lower precision has to reach. */
export interface Limit extends ParityLimit {
  /** Points of the task's metric that may be lost. */
  readonly maxDrop: number;
  /** Share of texts whose largest logit must stay the same; for classifiers. */
  readonly minTop1: number;
}

/** Ten bits of mantissa: all-MiniLM-L6-v2 measures 0.999 999 / 0.999 998. */
export const FP16_LIMIT: Limit = { meanCosine: 0.9999, minCosine: 0.9995, maxDrop: 0.1, minTop1: 0.99 };

/** all-MiniLM-L6-v2 measures 0.9946 / 0.974 in the fastest form on STS-B, 0.993 / 0.978 on the probe texts: docs/accuracy.md. */
export const INT8_LIMIT: Limit = { meanCosine: 0.99, minCosine: 0.965, maxDrop: 0.5, minTop1: 0.95 };

/** With one step for every tensor, found before: all-MiniLM-L6-v2 measures 0.982 / 0.95. Models trained for it lose less. */
export const STATIC_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.97, minCosine: 0.93 };

/** Random tokens are no texts: all-MiniLM-L6-v2 measures 0.990 / 0.972 on them. */
export const RANDOM_TOKENS_LIMIT: Limit = { ...INT8_LIMIT, meanCosine: 0.98, minCosine: 0.95 };

/** Why a measurement is below a limit; undefined when it is not. NaN always is. */
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
