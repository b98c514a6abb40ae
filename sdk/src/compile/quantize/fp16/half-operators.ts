import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";

/** An operator that can be computed in half precision. */
export interface HalfOperator {
  /**
   * True for operators that are fast and safe in half precision: the kernels multiply in float16 and sum in float32.
   * False for cheap operators. They keep the precision of their inputs, because a cast would cost more than it saves.
   */
  readonly heavy: boolean;
  /** Index of the input that is added to attention scores. It may be clipped, because its large negative values only mask keys. */
  readonly bias?: number;
  /** Indices of outputs that are always float32. */
  readonly statistics?: readonly number[];
  /** Whether half precision could overflow or underflow for these inputs. */
  readonly isSensitive?: (inputs: readonly (Value | undefined)[]) => boolean;
}

const heavy: HalfOperator = { heavy: true };
const light: HalfOperator = { heavy: false };

/**
 * Operators with a float16 CUDA kernel (https://github.com/microsoft/onnxruntime/blob/main/docs/OperatorKernels.md) that are
 * safe in half precision. All others are computed in float32:
 *
 * - operators without a kernel: Range, quantization and all unknown operators;
 * - operators whose results exceed float16's range or need more digits: Softmax, Exp, Log, Pow, Sqrt, Reciprocal,
 *   reductions, pooling, Sin and Cos of positions, and Min, Max and Clip with bounds outside the range.
 *
 * onnxruntime's own converter keeps fewer operators in float32. Of the operators in encoders, it keeps only Range,
 * CumSum, Min and Max:
 * https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/python/tools/transformers/float16.py
 *
 * The fused attention kernels add biases and compute the softmax in float32 (contrib_ops/cuda/bert/attention_softmax.cu).
 * The fused normalizations compute means and variances in float32 since onnxruntime 1.28
 * (https://github.com/microsoft/onnxruntime/pull/28682). Older versions summed the squares of SkipLayerNormalization and
 * EmbedLayerNormalization in float16.
 */
const operators: Readonly<Record<string, Readonly<Record<string, HalfOperator>>>> = {
  "": {
    ...each(["MatMul", "Gemm", "Einsum", "Conv", "Gelu", "RMSNormalization", "RotaryEmbedding"], heavy),
    LayerNormalization: { heavy: true, statistics: [1, 2] },
    SimplifiedLayerNormalization: { heavy: true, statistics: [1] },
    Attention: { heavy: true, bias: 3 },
    ...each(["Add", "Sub", "Neg", "Abs", "Where", "Relu", "Sigmoid", "Tanh", "Erf"], light),
    // x · x can overflow. Variances and cubes contain this product.
    Mul: { heavy: false, isSensitive: ([a, b]) => a === b },
    // A computed divisor can be a sum or standard deviation that becomes 0 in float16.
    Div: { heavy: false, isSensitive: ([, divisor]) => !divisor?.isConstant },
    ...each(
      ["Identity", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand", "Tile"],
      light,
    ),
    ...each(["Concat", "Split", "Slice", "Pad", "Trilu", "Gather", "GatherElements", "GatherND"], light),
    ...each(["ScatterElements", "ScatterND"], light),
  },
  [MICROSOFT]: {
    ...each(["EmbedLayerNormalization", "BiasGelu", "FastGelu", "Gelu", "QuickGelu", "RotaryEmbedding"], heavy),
    Attention: { heavy: true, bias: 5 },
    MultiHeadAttention: { heavy: true, bias: 5 },
    SkipLayerNormalization: { heavy: true, statistics: [1, 2] },
    SkipSimplifiedLayerNormalization: { heavy: true, statistics: [1, 2] },
  },
};

/** Returns undefined for an operator that is computed in float32. */
export const halfOperator = ({ domain, opType }: Node): HalfOperator | undefined => operators[domain]?.[opType];

function each(opTypes: readonly string[], operator: HalfOperator): Record<string, HalfOperator> {
  return Object.fromEntries(opTypes.map((opType) => [opType, operator]));
}
