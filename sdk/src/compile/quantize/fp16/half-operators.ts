import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";

/** An operator that can be computed in half precision. */
export interface HalfOperator {
  /**
   * True where kernels multiply halves and sum in float32, so that half precision is fast and safe whatever is read; false
   * for cheap operators, which take the precision of what they read rather than have it cast.
   */
  readonly heavy: boolean;
  /** Which input is added to scores before a softmax: far below zero, all of its values mean the same. */
  readonly bias?: number;
  /** Outputs that are float32 whatever the inputs are. */
  readonly statistics?: readonly number[];
  /** True for a use in which half precision loses more than digits. */
  readonly isSensitive?: (inputs: readonly (Value | undefined)[]) => boolean;
}

const heavy: HalfOperator = { heavy: true };
const light: HalfOperator = { heavy: false };

/**
 * Operators with a float16 kernel for CUDA (https://github.com/microsoft/onnxruntime/blob/main/docs/OperatorKernels.md). All
 * others are computed in float32: those without such a kernel (Range, quantization and all that is unknown), and those of
 * which a step leaves half precision's range or needs its digits (Softmax, Exp, Log, Pow, Sqrt, Reciprocal, reductions,
 * pooling, Sin and Cos of positions, Min, Max and Clip, whose bounds are such numbers). The last are also what
 * https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/python/tools/transformers/float16.py keeps by default, of
 * operators that encoders have: Range, CumSum, Min and Max.
 *
 * The fused kernels add biases to scores and take the softmax in float32 (contrib_ops/cuda/bert/attention_softmax.cu there),
 * and means and variances since https://github.com/microsoft/onnxruntime/pull/28682, which 1.28 has: before it,
 * SkipLayerNormalization and EmbedLayerNormalization summed squares in halves.
 */
const operators: Readonly<Record<string, Readonly<Record<string, HalfOperator>>>> = {
  "": {
    ...each(["MatMul", "Gemm", "Einsum", "Conv", "Gelu", "RMSNormalization", "RotaryEmbedding"], heavy),
    LayerNormalization: { heavy: true, statistics: [1, 2] },
    Attention: { heavy: true, bias: 3 },
    ...each(["Add", "Sub", "Neg", "Abs", "Where", "Relu", "Sigmoid", "Tanh", "Erf"], light),
    // A square is a variance or the start of a cube.
    Mul: { heavy: false, isSensitive: ([a, b]) => a === b },
    // What is divided by may be a sum or a deviation, which are small.
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
  },
};

/** Undefined for an operator that is computed in float32. */
export const halfOperator = ({ domain, opType }: Node): HalfOperator | undefined => operators[domain]?.[opType];

function each(opTypes: readonly string[], operator: HalfOperator): Record<string, HalfOperator> {
  return Object.fromEntries(opTypes.map((opType) => [opType, operator]));
}
