/*
 * All kernels. The name of a kernel says its operation and the type of its operands. The comment of each kernel has the
 * shapes and the formula. The type `u7` is a byte with a number from 0 to 127.
 */
export { reluF32, sigmoidF32, swishF32, tanhF32 } from "./activation";
export { attentionInt8 } from "./attention";
export { addRowsF32, multiplyF32, rotateF32 } from "./elementwise";
export { expandInt4 } from "./expand";
export { fastGeluF32, geluF32 } from "./gelu";
export { gemmInt8 } from "./gemm";
export { gemvF32 } from "./gemv";
export { layerNormF32, rmsNormF32 } from "./layer-norm";
export { lookupInt4, lookupInt8 } from "./lookup";
export { positionBiasesF32 } from "./position-biases";
export { normalizeF32, poolMaxF32, poolMeanF32 } from "./pooling";
export { quantizeColumnsInt8, quantizeRowsInt8 } from "./quantize";
export { attentionScratch } from "./scratch";
