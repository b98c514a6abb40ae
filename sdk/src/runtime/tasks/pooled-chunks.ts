import type { TokenSequence } from "../engine/engine.ts";
import { idsOf, pooledFromOf } from "../engine/token-sequence.ts";
import { unit } from "./sentence-vector.ts";

/**
 * Returns a vector for each text, from those of its chunks: v = Σ nᵢ vᵢ / Σ nᵢ, where nᵢ is the number of a chunk's pooled tokens and vᵢ
 * its vector.
 *
 * @param vectors of the chunks of all texts, one after the other: [dimensions] each
 * @param chunks the chunks of each text
 * @param normalize whether the vectors must have the length 1
 */
export function pooledChunks(
  vectors: readonly Float32Array<ArrayBuffer>[],
  chunks: readonly (readonly TokenSequence[])[],
  normalize: boolean,
): Float32Array<ArrayBuffer>[] {
  let next = 0;
  return chunks.map((ofText) => {
    const own = ofText.map(() => vectors[next++] as Float32Array<ArrayBuffer>);
    const [only, ...others] = own;
    if (only && others.length === 0) return only;
    const counts = ofText.map((chunk) => idsOf(chunk).length - pooledFromOf(chunk));
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    const mean = new Float32Array((only as Float32Array).length);
    own.forEach((vector, i) => {
      const share = (counts[i] as number) / tokens;
      vector.forEach((value, at) => {
        mean[at] = (mean[at] as number) + share * value;
      });
    });
    return normalize ? unit(mean) : mean;
  });
}
