/* All kernels. Their names say the operation and the type of its operands. Shapes and formulas are in the comment of each kernel. */
export { reluF32, sigmoidF32, swishF32, tanhF32 } from "./activation";
export { attentionInt8 } from "./attention";
export { addRowsF32, multiplyF32, rotateF32 } from "./elementwise";
export { fastGeluF32, geluF32 } from "./gelu";
export { gemmInt8 } from "./gemm";
export { gemvF32 } from "./gemv";
export { layerNormF32 } from "./layer-norm";
export { lookupInt4, lookupInt8 } from "./lookup";
export { normalizeF32, poolMaxF32, poolMeanF32 } from "./pooling";
export { quantizeRowsInt8 } from "./quantize";
export { attentionScratch } from "./scratch";
