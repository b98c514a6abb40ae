import { LOG2_E } from "../../runtime/engine/wasm/constants/arithmetic.ts";
import { I8 } from "../../runtime/engine/wasm/constants/operand-ranges.ts";
import { weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import type { Node } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { lowerPositionTerms, lowerRelativeBias } from "./attention-bias.ts";
import { type LoweringContext, type Operand, view } from "./lowering-context.ts";
import { packWeight } from "./pack-weight.ts";
import { rowSums, tilePadded, tileWeight } from "./tile-weight.ts";
import { unsupported } from "./unsupported.ts";

/** Looks up rows of a token embedding table, which has one scale per row. */
export function lowerLookup(lowering: LoweringContext, node: Node): void {
  const [rows, scales] = [node.inputs[0]?.constant, node.inputs[2]?.constant] as [Tensor, Tensor];
  const width = node.int("width");
  if (width === undefined && (node.int("bits") !== 8 || node.int("block_size") !== rows.shape[1])) {
    throw unsupported(node, "only tables with one scale per row are supported");
  }
  lowering.push(node, {
    op: "lookup",
    table: lowering.tensor(node.inputs[0]?.name ?? "", rows),
    scales: lowering.floats(node.inputs[2]?.name ?? "", toFloat32(scales)),
    bits: width === undefined ? 8 : 4,
    out: lowering.result(node.output, width ?? rows.shape[1] ?? 0, "token"),
  });
}

export function lowerLinearInt8(lowering: LoweringContext, node: Node): void {
  const [x, weight, scales, zeroPoints, bias] = node.inputs;
  const operand = lowering.operand(x);
  const values = weight?.constant;
  const isSigned = node.int("activation_min") === I8.min && node.int("activation_max") === I8.max;
  const isTiled = isSigned && values?.dtype === "uint8";
  if (!x || !operand) throw unsupported(node, "its input does not depend on the text");
  if (!lowering.isWhole(operand))
    throw unsupported(node, `its input "${x.name}" is a slice of a tensor, but it must be a whole tensor`);
  if (!isTiled) throw unsupported(node, "only constant 7-bit weights and int8 activations are supported");
  const [outputs = 0, inputs = 0] = values.shape;
  const name = weight?.name ?? "";
  const group = weightGroups.find((size) => size === node.int("group"));
  const given = bias?.constant && toFloat32(bias.constant);
  const step = {
    op: "linearInt8" as const,
    x: lowering.quantized(node, x, operand),
    weight: lowering.tensors.has(name)
      ? name
      : lowering.tensor(name, group ? packWeight(values, group) : tileWeight(values)),
    ...(group && { group }),
    scales: lowering.floats(scales?.name ?? "", tilePadded(toFloat32(scales?.constant as Tensor))),
    zeroPoints: integers(lowering, zeroPoints?.name ?? "", Int32Array.from(numbersOf(zeroPoints?.constant as Tensor))),
    sums: integers(lowering, `${name}.sums`, rowSums(values.data, inputs, outputs)),
    bias: lowering.floats(`${node.name}.bias`, tilePadded(given ?? new Float32Array(outputs))),
    out: lowering.resultLike(node, operand, outputs),
  };
  lowering.push(node, step);
  if (!given) lowering.addWithoutBias(node.output, step);
}

function integers(lowering: LoweringContext, name: string, values: Int32Array): string {
  const padded = tilePadded(values);
  return lowering.tensor(name, tensor("int32", [padded.length], padded as Int32Array<ArrayBuffer>));
}

export function lowerAttention(lowering: LoweringContext, node: Node): void {
  const [query, key, value] = node.inputs.slice(0, 3).map((input) => lowering.operand(input)) as (
    | Operand
    | undefined
  )[];
  const bias = node.inputs[3];
  const heads = node.int("num_heads") ?? 0;
  const size = (query?.width ?? 0) / heads;
  // The engine's softmax uses powers of 2, so scores are multiplied by log₂ e.
  const scale = Math.fround(LOG2_E * (node.float("scale") ?? 1 / Math.sqrt(size)));
  if (!query || !key || !value) throw unsupported(node, "queries, keys and values must depend on the text");
  const scores = bias?.producer?.is("DynamicQuantizePositionScores", EDGE) ? bias.producer : undefined;
  const positions = scores && lowerPositionTerms(lowering, scores, { query, key });
  const table = bias && !positions ? lowerRelativeBias(lowering, bias) : undefined;
  if (bias && !table && !positions) {
    throw unsupported(
      node,
      `the bias "${bias.name}" of its scores must depend only on the distance between two tokens`,
    );
  }
  lowering.push(node, {
    op: "attention",
    query: view(query),
    key: view(key),
    value: view(value),
    heads,
    size,
    scale,
    ...(table && { bias: table }),
    ...(positions && { positions }),
    out: lowering.result(node.output, query.width, "token"),
  });
}
