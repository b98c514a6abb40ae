import type { Node } from "./node.ts";

/** Operators that change only the shape: the same elements in the same order. */
export const reshapeOperators: readonly string[] = ["Reshape", "Squeeze", "Unsqueeze", "Flatten"];

/** Whether a node returns its first input's elements in the same order, in any shape. */
export const isView = ({ opType, domain }: Node): boolean =>
  domain === "" && (opType === "Identity" || reshapeOperators.includes(opType));

const random = /^(Random(Normal|Uniform)(Like)?|Multinomial|Bernoulli|Dropout)$/;

/** Whether a node's result is random. A random node is neither computed in advance nor merged with an equal node. */
export const isRandom = ({ opType }: Node): boolean => random.test(opType);

/**
 * Domain of the edge engine's own operators, which ONNX does not have. `test/oracles/reference` holds their
 * reference kernels.
 *
 * - DynamicQuantizeMatMul(x [.., in], weight [out, in] as integers, scale [out], zero point [out], bias? [out])
 *   {activation_min, activation_max, group?} → x · weightᵀ + bias. Each row of x is quantized with its own scale. With `group`, the weights
 *   of that many neighbouring inputs are base + multiplier · code, and are stored in 4 bits.
 * - LookupLevels(table [rows, bytes], ids, scales [rows]) {width} → rows of a table in 4 bits (assembly/lookup.ts), dequantized.
 * - DynamicQuantizeAttention(query, key, value, bias?) {num_heads, scale?} →
 *   softmax(query · keyᵀ · scale + bias) · value, for one sequence without padding.
 * - DynamicQuantizePositionScores(buckets [1, 1, sequence, sequence], query?, position keys…, key?, position queries…)
 *   {num_heads} → query i · position key of bucket (i, j) + key j · position query of bucket (i, j), for each head. Position
 *   keys and position queries are three inputs each: integers [heads · buckets, size], scale and zero point
 *   [heads · buckets].
 */
export const EDGE = "bert-edge";
