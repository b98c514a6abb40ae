import type { Skip } from "../../runtime/engine/wasm/run/program.ts";
import type { Node, Value } from "../graph/node.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
import type { LoweringContext, Operand } from "./lowering-context.ts";
import { addendOf, isRow, whole } from "./operands.ts";
import { notInFours, unsupported } from "./unsupported.ts";

export function skipLayerNormalization(lowering: LoweringContext, node: Node): void {
  const [x, other, gamma, beta, bias] = node.inputs;
  const [read, added] = lowering.operand(x) ? [x, other] : [other, x];
  let operand = whole(lowering, node, node.inputs.indexOf(read));
  if (bias) {
    if (read !== x || !isRow(bias, operand.width)) throw unsupported(node, "its bias is not a constant row");
    operand = lowering.addRow(operand, bias.constant, node);
  }
  const total = node.outputs[3];
  // The normalization kernel adds a different row to each row of its input. Adding one row to all rows needs a separate
  // step.
  if (isRow(added, operand.width)) {
    operand = lowering.addRow(operand, added.constant, node);
    lowering.define(total, operand);
    normalize(lowering, node, { operand, gamma, beta });
    return;
  }
  const skip = addendOf(lowering, node, added, operand);
  const sum = total?.users.size ? lowering.result(total, operand.width, lowering.rowsOf(operand)) : undefined;
  normalize(lowering, node, { operand, gamma, beta, skip, total: sum });
}

export function layerNormalization(lowering: LoweringContext, node: Node): void {
  const [, gamma, beta] = node.inputs;
  normalize(lowering, node, { operand: whole(lowering, node), gamma, beta });
}

interface Normalized {
  operand: Operand;
  gamma: Value | undefined;
  beta: Value | undefined;
  skip?: Skip;
  total?: number | undefined;
}

function normalize(lowering: LoweringContext, node: Node, { operand, gamma, beta, skip, total }: Normalized): void {
  if (operand.width % 4 !== 0) throw unsupported(node, notInFours("the width of its input", operand.width));
  if (!isRow(gamma, operand.width) || (beta && !isRow(beta, operand.width))) {
    throw unsupported(node, "gamma and beta must be constant float32 rows as wide as its input");
  }
  lowering.steps.push({
    op: "layerNorm",
    x: operand.value,
    ...(skip && { skip }),
    gamma: lowering.floats(`${node.name}.gamma`, toFloat32(gamma.constant)),
    ...(beta && { beta: lowering.floats(`${node.name}.beta`, toFloat32(beta.constant as Tensor)) }),
    epsilon: node.float("epsilon") ?? 1e-5,
    ...(total !== undefined && { total }),
    out: lowering.result(node.output, operand.width, lowering.rowsOf(operand)),
  });
}
