import { I8 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { columnsOfHead } from "./columns-of-head.ts";
import { fround } from "./float32.ts";
import type { IntegerProduct } from "./integer-product.ts";
import { type IntegerWeight, quantizedLinear } from "./linear.ts";

/** Position keys or position queries, and the tensor that they are multiplied with. */
export interface PositionFactor {
  /** Queries or keys: [tokens, heads · size]. */
  readonly x: Float32Array;
  /** One matrix [buckets, size] for each head. */
  readonly weights: readonly IntegerWeight[];
}

/**
 * Computes the terms of attention scores that depend on relative positions, as in DeBERTa:
 *
 *     query i · position key of the bucket of (i, j) + key j · position query of the same bucket
 *
 * Queries and keys are quantized row by row and head by head.
 *
 * @param ofQueries undefined if there are no position keys
 * @param ofKeys undefined if there are no position queries
 * @param buckets [tokens, tokens]: the bucket of each query and key
 * @returns [heads, tokens, tokens]
 */
export async function positionScores(
  ofQueries: PositionFactor | undefined,
  ofKeys: PositionFactor | undefined,
  buckets: ArrayLike<number>,
  product: IntegerProduct,
): Promise<Float32Array> {
  const tokens = Math.sqrt(buckets.length);
  const heads = (ofQueries ?? ofKeys)?.weights.length ?? 0;
  const scores = new Float32Array(heads * buckets.length);
  const scoresOf = async (factor: PositionFactor | undefined, head: number) => {
    const weight = factor?.weights[head];
    if (!factor || !weight) return undefined;
    const x = columnsOfHead(factor.x, head, heads, weight.values.length / weight.scales.length);
    return quantizedLinear(x, weight, I8, product);
  };
  for (let head = 0; head < heads; head++) {
    const [byQuery, byKey] = [await scoresOf(ofQueries, head), await scoresOf(ofKeys, head)];
    const width = (byQuery ?? byKey ?? []).length / tokens;
    for (let at = 0; at < buckets.length; at++) {
      const [i, j] = [Math.floor(at / tokens), at % tokens];
      const bucket = buckets[at] as number;
      const [a, b] = [byQuery?.[i * width + bucket], byKey?.[j * width + bucket]];
      scores[head * buckets.length + at] = a === undefined ? (b as number) : b === undefined ? a : fround(a + b);
    }
  }
  return scores;
}
