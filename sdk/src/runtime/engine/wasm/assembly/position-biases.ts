import { LOG2_E } from "../constants/arithmetic";

/**
 * Computes the biases of attention scores that depend on relative positions, for one head of one sequence:
 *
 *     out[i, j] = (ofQueries[i, bucket] + ofKeys[j, bucket]) · log₂ e, with bucket = bucketOf[j − i] − first
 *
 * @param ofQueries f32 [tokens, buckets]; 0 for none
 * @param ofKeys f32 [tokens, buckets]; 0 for none
 * @param first index of the first bucket that ofQueries and ofKeys contain
 * @param bucketOf address of the bucket of relative position 0 in a table of i32. A bucket that does not exist counts as the
 *   last bucket, so that a damaged table cannot make the kernel read other memory.
 * @param out f32 [tokens, tokens]
 */
export function positionBiasesF32(
  ofQueries: usize,
  ofKeys: usize,
  first: i32,
  buckets: i32,
  bucketOf: usize,
  tokens: i32,
  out: usize,
): void {
  const bytes = <usize>buckets << 2;
  for (let i = 0; i < tokens; i++) {
    let key = ofKeys;
    let bucketAt = bucketOf - (<usize>i << 2);
    for (let j = 0; j < tokens; j++) {
      const bucket = min(load<u32>(bucketAt) - <u32>first, <u32>buckets - 1) << 2;
      let bias: f32 = ofQueries ? load<f32>(ofQueries + bucket) : 0;
      if (ofKeys) bias = ofQueries ? bias + load<f32>(key + bucket) : load<f32>(key + bucket);
      store<f32>(out, bias * <f32>LOG2_E);
      out += 4;
      key += bytes;
      bucketAt += 4;
    }
    if (ofQueries) ofQueries += bytes;
  }
}
