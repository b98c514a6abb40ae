import type { CatalogueModel } from "../../checkpoint/hub/catalogue.ts";

/** Bytes of memory of an isolate, and the share that weights may take: the rest is for activations and JavaScript. */
const ISOLATE_BYTES = 128 * 2 ** 20;
const WEIGHTS_SHARE = 0.75;

/** Where a model can run: with a table of 8 or 4 bits at the edge, or in a region only. */
export type EstimatedFit = "edge" | "edge, --table int4" | "region";

/**
 * Estimates a model's int8 weights, in bytes: one for each weight of the token embedding table and of the linear layers. Biases,
 * scales and position tables are small.
 */
export function estimatedBytes({ shape }: Pick<CatalogueModel, "shape">, tableBits: 8 | 4 = 8): number {
  const { layers, hidden, feedForward, vocabulary, gated } = shape;
  const layer = 4 * hidden * hidden + (gated ? 3 : 2) * hidden * feedForward;
  return (vocabulary * hidden * tableBits) / 8 + layers * layer;
}

/** Estimates where a model can run. `prepare` measures it. */
export function estimatedFit(model: Pick<CatalogueModel, "shape">): EstimatedFit {
  const limit = WEIGHTS_SHARE * ISOLATE_BYTES;
  if (estimatedBytes(model) <= limit) return "edge";
  return estimatedBytes(model, 4) <= limit ? "edge, --table int4" : "region";
}
