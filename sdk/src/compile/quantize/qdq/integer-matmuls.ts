import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { mergeCommonSubexpressions } from "../../normalize/common-subexpressions.ts";
import { applyRules } from "../../rewrite/apply-rules.ts";
import type { Rule } from "../../rewrite/rule.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { foldQuantizedConstants, transposedWeight, unsignedActivations } from "./canonical-form.ts";
import {
  dynamicMatMul,
  dynamicQuantizeMatMul,
  matMulBias,
  quantizedGemm,
  requantizedMatMul,
  staticMatMul,
} from "./matmul.ts";
import { qAttention } from "./q-attention.ts";

const stages: readonly (readonly Rule[])[] = [
  [unsignedActivations, quantizedGemm],
  [transposedWeight],
  [requantizedMatMul],
  [staticMatMul, dynamicMatMul],
  [matMulBias],
  [qAttention],
  [dynamicQuantizeMatMul],
];

/**
 * Replaces the linear layers of a quantized model with onnxruntime's fused integer operators. The model may be static (QDQ:
 * QuantizeLinear and DequantizeLinear around float operators) or dynamic (DynamicQuantizeLinear and MatMulInteger). The
 * quantized weights and the scales do not change. Lookups in integer tables, and MatMuls of two computed tensors, stay as
 * they are.
 *
 * @param graph fused by `fuseGraph`
 * @returns a copy
 */
export async function integerMatMuls(graph: Graph): Promise<Graph> {
  const result = copyGraph(graph);
  await foldQuantizedConstants(result);
  for (const rules of stages) {
    applyRules(result, rules);
    // The rules copy constants. This merges the copies, so that layers continue to share weights.
    mergeCommonSubexpressions(result);
  }
  inferShapes(result);
  return result;
}
