import type { Rule } from "../rewrite/rule.ts";
import { arithmeticSelectRule } from "./rules/arithmetic-select.ts";
import { attentionHeadsRule } from "./rules/attention-heads.ts";
import { betweenTransposesRule } from "./rules/between-transposes.ts";
import { biasBeforeHeadsRule } from "./rules/bias-before-heads.ts";
import { castBeforeMovementRule } from "./rules/cast-before-movement.ts";
import { castLikeRule } from "./rules/cast-like.ts";
import { constantReshapeRule } from "./rules/constant-reshape.ts";
import { dequantizedLookupRule } from "./rules/dequantized-lookup.ts";
import { einsumMatMulRule } from "./rules/einsum-mat-mul.ts";
import { einsumWeightRule } from "./rules/einsum-weight.ts";
import { fusedMatMulRule } from "./rules/fused-mat-mul.ts";
import { gemmRule } from "./rules/gemm.ts";
import { lastAxisRule } from "./rules/last-axis.ts";
import { mergeTransposesRule } from "./rules/merge-transposes.ts";
import { noOpsRule } from "./rules/no-ops.ts";
import { oneHotLookupRule } from "./rules/one-hot-lookup.ts";
import { pointwiseConvRule } from "./rules/pointwise-conv.ts";
import { sequencePartRule } from "./rules/sequence-part.ts";
import { shapeOfInputsRule } from "./rules/shape-of-inputs.ts";
import { singleTransposeRule } from "./rules/single-transpose.ts";
import { subtractedProductRule } from "./rules/subtracted-product.ts";
import { transposedMatMulRule } from "./rules/transposed-mat-mul.ts";
import { unflattenRowsRule } from "./rules/unflatten-rows.ts";
import { wholeGatherRule } from "./rules/whole-gather.ts";

/**
 * Rules that bring a graph into the form that fusions match. For each node, the first rule that applies is used.
 *
 * To add a rule, write it in a new file in `rules/` and list it here.
 */
export const normalizationRules: readonly Rule[] = [
  castLikeRule,
  fusedMatMulRule,
  noOpsRule,
  castBeforeMovementRule,
  sequencePartRule,
  shapeOfInputsRule,
  wholeGatherRule,
  constantReshapeRule,
  mergeTransposesRule,
  betweenTransposesRule,
  transposedMatMulRule,
  gemmRule,
  pointwiseConvRule,
  einsumWeightRule,
  einsumMatMulRule,
  attentionHeadsRule,
  arithmeticSelectRule,
  subtractedProductRule,
  oneHotLookupRule,
  dequantizedLookupRule,
  biasBeforeHeadsRule,
  unflattenRowsRule,
  singleTransposeRule,
  lastAxisRule,
];
