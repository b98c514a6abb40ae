/**
 * The operators of our own engine for the edge that have no equal in ONNX. Their definition is the code in `build/scalar`.
 *
 * - DynamicQuantizeMatMul(x [.., in], weight [out, in] in whole numbers, scale [out], zero point [out], bias? [out])
 *   {activation_min, activation_max} → x · weightᵀ + bias, with x quantized row by row
 * - DynamicQuantizeAttention(query, key, value, bias?) {num_heads, scale?} → softmax(query · keyᵀ · scale + bias) · value,
 *   of one sequence without padding
 */
export const EDGE = "bert-edge";
