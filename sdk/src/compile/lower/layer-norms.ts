import type { Skip } from "../../runtime/engine/wasm/ops/skip.ts";
import type { Node, Value } from "../graph/node.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
import type { LoweringContext, Operand } from "./lowering-context.ts";
import { addendOf, isRow, whole } from "./operands.ts";
import { unsupported } from "./unsupported.ts";

/** Kind of a normalization: LayerNorm, or RMSNorm, which has no beta. */
type Kind = "layerNorm" | "rmsNorm";

export function skipNormalization(lowering: LoweringContext, node: Node, kind: Kind): void {
  const [x, other, gamma, ...offsets] = node.inputs;
  const [beta, bias] = kind === "layerNorm" ? offsets : [undefined, ...offsets];
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
    normalize(lowering, node, { kind, operand, gamma, beta });
    return;
  }
  const skip = addendOf(lowering, node, added, operand);
  const sum = total?.users.size ? lowering.result(total, operand.width, lowering.rowsOf(operand)) : undefined;
  normalize(lowering, node, { kind, operand, gamma, beta, skip, total: sum });
}

export function normalization(lowering: LoweringContext, node: Node, kind: Kind): void {
  const [, gamma, beta] = node.inputs;
  normalize(lowering, node, { kind, operand: whole(lowering, node), gamma, beta });
}

interface Normalized {
  kind: Kind;
  operand: Operand;
  gamma: Value | undefined;
  beta: Value | undefined;
  skip?: Skip;
  total?: number | undefined;
}

function normalize(
  lowering: LoweringContext,
  node: Node,
  { kind, operand, gamma, beta, skip, total }: Normalized,
): void {
  if (!isRow(gamma, operand.width) || (beta && !isRow(beta, operand.width))) {
    throw unsupported(node, "gamma and beta must be constant float32 rows as wide as its input");
  }
  lowering.push(node, {
    op: kind,
    x: operand.value,
    ...(skip && { skip }),
    gamma: lowering.floats(`${node.name}.gamma`, toFloat32(gamma.constant)),
    ...(beta && { beta: lowering.floats(`${node.name}.beta`, toFloat32(beta.constant as Tensor)) }),
    epsilon: node.float("epsilon") ?? 1e-5,
    ...(total !== undefined && { total }),
    out: lowering.resultLike(node, operand),
  });
}
