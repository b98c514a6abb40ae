import { foldConstants } from "../evaluate/fold-constants.ts";
import type { Graph } from "../graph/graph.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import type { Questions } from "../rewrite/questions.ts";
import type { Rule } from "../rewrite/rule.ts";
import type { Trace } from "../rewrite/trace.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { mergeCommonSubexpressions } from "./common-subexpressions.ts";
import { arithmeticSelectRule, castLikeRule, subtractedProductRule } from "./rules/arithmetic.ts";
import { attentionHeadsRule, biasBeforeHeadsRule, castBeforeMovementRule } from "./rules/heads.ts";
import { dequantizedLookupRule, oneHotLookupRule, wholeGatherRule } from "./rules/lookup.ts";
import { einsumMatMulRule, einsumWeightRule, fusedMatMulRule, gemmRule } from "./rules/matmul.ts";
import { noOpsRule } from "./rules/no-ops.ts";
import { pointwiseConvRule } from "./rules/pointwise-conv.ts";
import { constantReshapeRule, shapeOfInputsRule, unflattenRowsRule } from "./rules/shape.ts";
import { lastAxisOfSliceRule, lastAxisOfSplitRule, sequencePartRule } from "./rules/split.ts";
import {
  betweenTransposesRule,
  mergeTransposesRule,
  singleTransposeRule,
  transposedMatMulRule,
} from "./rules/transpose.ts";

/** Rules that bring a graph into the form that fusions match. For each node, the first rule that applies is used. */
const rules: readonly Rule[] = [
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
  lastAxisOfSplitRule,
  lastAxisOfSliceRule,
];

/** Maximum number of rounds. Usually three are enough. */
const MAX_ROUNDS = 16;

/**
 * Removes the differences between exporters, in place, so that each fusion needs one short pattern instead of one per
 * exporter.
 */
export async function normalizeGraph(graph: Graph, trace: Trace, questions: Questions): Promise<void> {
  // Repeats the steps: folding constants makes more sizes known, and known sizes allow more folding.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = graph.nodes.size;
    inferShapes(graph);
    mergeCommonSubexpressions(graph);
    await foldConstants(graph);
    const hasChanged = applyRules(graph, rules, trace, questions);
    if (!hasChanged && graph.nodes.size === before) break;
  }
  inferShapes(graph);
  mergeCommonSubexpressions(graph);
  verifyGraph(graph);
}
