import { BertEdgeError } from "../../artifact/error.ts";
import type { GoldenTexts } from "../../artifact/golden.ts";
import type { EmbedManifest } from "../../artifact/manifest.ts";

/**
 * Bounds of the cosine that a foreign region must reach. Between them, the worst cosine of the edge's own target decides: a
 * region may differ from the float32 model as much as the edge does.
 *
 * - Below 0.99, related models and other poolings come too near.
 * - Half precision reaches 0.9995: `FP16_LIMIT` in compile/accuracy/limits.ts.
 */
const LOWEST_LIMIT = 0.99;
export const FP16_COSINE = 0.9995;

/** Relative error of a vector's length, for models that do not normalize. It is that of int8, as 0.99 is for cosines. */
const NORM_TOLERANCE = 0.05;

/** Returns the cosine that each golden text must reach. */
export const cosineLimit = ({ targets }: Pick<EmbedManifest, "targets">): number =>
  Math.min(FP16_COSINE, Math.max(LOWEST_LIMIT, targets.edge?.parity.minCosine ?? 0));

/**
 * Compares a region's vectors of the golden texts with the model's own.
 *
 * @returns the worst cosine
 * @throws BertEdgeError `region_failed` when the region computes other vectors
 */
export function compareGolden(
  golden: GoldenTexts,
  vectors: readonly Float32Array[],
  manifest: Pick<EmbedManifest, "targets" | "normalize" | "pooling">,
  host: string,
): number {
  const compared = golden.vectors.map((own, index) => compare(own, vectors[index] as Float32Array));
  const worst = compared.reduce((a, b) => (b.cosine < a.cosine ? b : a));
  const limit = cosineLimit(manifest);
  const refuse = (what: string, index: number, hint: string) =>
    new BertEdgeError(
      "region_failed",
      `The region at ${host} is not used: ${what} for ${JSON.stringify(golden.texts[index]?.slice(0, 60))}.`,
      { hint },
    );
  if (!(worst.cosine >= limit)) {
    throw refuse(
      `its vector has a cosine of ${worst.cosine.toFixed(4)} with the model's own (must be at least ${limit.toFixed(4)})`,
      compared.indexOf(worst),
      `Let the region serve the same model, with ${manifest.pooling} pooling and without a prompt.`,
    );
  }
  const other = manifest.normalize ? -1 : compared.findIndex(({ scale }) => Math.abs(scale - 1) > NORM_TOLERANCE);
  if (other >= 0) {
    throw refuse(
      `its vector is ${compared[other]?.scale.toFixed(4)} times as long as the model's own`,
      other,
      "The model does not normalize its vectors: let the region not normalize them either.",
    );
  }
  return worst.cosine;
}

function compare(own: Float32Array, theirs: Float32Array): { cosine: number; scale: number } {
  const dot = own.reduce((sum, value, i) => sum + value * (theirs[i] as number), 0);
  const [ownNorm, norm] = [Math.hypot(...own), Math.hypot(...theirs)];
  return { cosine: dot / (ownNorm * norm), scale: norm / ownNorm };
}
