/**
 * Domain of the edge engine's own operators, which ONNX does not have. `test/oracles/reference` holds their
 * reference kernels.
 *
 * - DynamicQuantizeMatMul(x [.., in], weight [out, in] as integers, scale [out], zero point [out], bias? [out])
 *   {activation_min, activation_max} → x · weightᵀ + bias. Each row of x is quantized with its own scale.
 * - DynamicQuantizeAttention(query, key, value, bias?) {num_heads, scale?} →
 *   softmax(query · keyᵀ · scale + bias) · value, for one sequence without padding.
 * - DynamicQuantizePositionScores(buckets [1, 1, sequence, sequence], query?, position keys…, key?, position queries…)
 *   {num_heads} → query i · position key of bucket (i, j) + key j · position query of bucket (i, j), for each head. Position
 *   keys and position queries are three inputs each: integers [heads · buckets, size], scale and zero point
 *   [heads · buckets].
 */
export const EDGE = "bert-edge";
