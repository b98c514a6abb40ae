import type { EmbedManifest, GoldenTexts } from "../../artifact/manifest.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";

/**
 * Bounds of the minimum cosine of a foreign region. Between them, the minimum is the worst cosine of the edge's own target.
 *
 * - With a minimum below 0.99, related models and other poolings could pass.
 * - Half precision reaches 0.9995: `FP16_LIMIT` in compile/accuracy/limits.ts.
 */
const LOWEST_LIMIT = 0.99;
export const FP16_COSINE = 0.9995;

/** Maximum relative error of a vector's length, for models that do not normalize. Like the cosine 0.99, it allows for int8. */
const NORM_TOLERANCE = 0.05;

/** Returns the cosine that each golden text must reach. */
export const cosineLimit = ({ targets }: Pick<EmbedManifest, "targets">): number =>
  Math.min(FP16_COSINE, Math.max(LOWEST_LIMIT, targets.edge?.parity.minCosine ?? 0));

/**
 * Compares vectors of the golden texts with the model's own. Returns the worst cosine (NaN if a vector has none) and the fault
 * (undefined if every vector reaches the `limit` and has about the right length).
 */
export function againstGolden(
  golden: GoldenTexts,
  vectors: readonly (Float32Array | undefined)[],
  { normalize, pooling }: Pick<EmbedManifest, "normalize" | "pooling">,
  limit: number,
): { cosine: number; fault: { what: string; hint: string } | undefined } {
  const different = (
    [index, cosine]: readonly [index: number, cosine: number],
    what: string,
    hint = `The region must serve the same model, with ${pooling} pooling and without a prompt.`,
  ) => ({ cosine, fault: { what: `${what} for ${JSON.stringify(golden.texts[index]?.slice(0, 60))}`, hint } });
  const compared: { cosine: number; scale: number }[] = [];
  for (const [index, own] of golden.vectors.entries()) {
    const theirs = vectors[index];
    if (theirs?.length !== own.length) {
      const what = `its vector has ${theirs?.length ?? 0} dimensions instead of ${own.length}`;
      return different([index, Number.NaN], what);
    }
    const each = { cosine: cosine(own, theirs), scale: Math.hypot(...theirs) / Math.hypot(...own) };
    if (each.scale === 0 || !Number.isFinite(each.cosine)) {
      const what = each.scale === 0 ? "its vector has only zeros" : "its vector has NaN or infinite values";
      const hint = "Run `bert-edge verify` on the artifact to see which target is wrong.";
      return different([index, Number.NaN], what, hint);
    }
    compared.push(each);
  }
  const worst = compared.reduce((a, b) => (b.cosine < a.cosine ? b : a));
  if (worst.cosine < limit) {
    const least = `must be at least ${limit.toFixed(4)}`;
    const what = `its vector has a cosine of ${worst.cosine.toFixed(4)} with the model's own (${least})`;
    return different([compared.indexOf(worst), worst.cosine], what);
  }
  const other = normalize ? -1 : compared.findIndex(({ scale }) => Math.abs(scale - 1) > NORM_TOLERANCE);
  if (other < 0) return { cosine: worst.cosine, fault: undefined };
  const what = `its vector is ${compared[other]?.scale.toFixed(4)} times as long as the model's own`;
  const hint = "The model does not normalize its vectors: the server must not normalize them either.";
  return different([other, worst.cosine], what, hint);
}
