/**
 * Domain of the edge engine's own operators, which ONNX does not have. `runtime/engine/wasm/reference` holds their
 * reference kernels.
 *
 * - DynamicQuantizeMatMul(x [.., in], weight [out, in] as integers, scale [out], zero point [out], bias? [out])
 *   {activation_min, activation_max} → x · weightᵀ + bias. Each row of x is quantized with its own scale.
 * - DynamicQuantizeAttention(query, key, value, bias?) {num_heads, scale?} →
 *   softmax(query · keyᵀ · scale + bias) · value, for one sequence without padding.
 */
export const EDGE = "bert-edge";
