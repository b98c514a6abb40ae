import type { PositionTable, Skip } from "../../runtime/engine/wasm/ops/skip.ts";
import type { Node, Value } from "../graph/node.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
import { concatenate } from "../graph/tensor-math.ts";
import type { LoweringContext, Operand } from "./lowering-context.ts";
import type { PositionTables } from "./position-values.ts";
import { unsupported } from "./unsupported.ts";

/** Whether a value is a constant float32 row of this width. The row may have leading axes of size 1. */
export const isRow = (value: Value | undefined, width: number): value is Value & { constant: Tensor } =>
  value?.constant?.dtype === "float32" &&
  value.constant.data.length === 4 * width &&
  value.constant.shape.at(-1) === width;

/**
 * Returns the operand of a node's input, and checks that it covers all columns of its engine value.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export function whole(lowering: LoweringContext, node: Node, index = 0): Operand {
  const operand = lowering.operand(node.inputs[index]);
  if (operand && lowering.isWhole(operand)) return operand;
  const name = node.inputs[index]?.name ?? `${index}`;
  const reason = operand ? "is a slice of a tensor, but it must be a whole tensor" : "does not depend on the text";
  throw unsupported(node, `its input "${name}" ${reason}`);
}

/** Whether two operands have the same kind of rows: one row per token, or one row per sequence. */
export const haveSameRows = (lowering: LoweringContext, a: Operand, b: Operand) =>
  lowering.rowsOf(a) === lowering.rowsOf(b);

/**
 * Returns the value that a node adds to `operand`: another engine value, or a table with one row per position.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export function addendOf(lowering: LoweringContext, node: Node, value: Value | undefined, operand: Operand): Skip {
  const other = value && lowering.operand(value);
  if (other && haveSameRows(lowering, other, operand)) {
    return { value: whole(lowering, node, node.inputs.indexOf(value)).value };
  }
  const table = value && lowering.positions.tables.get(value);
  if (table && table.shape.at(-1) === operand.width && table.data.length === 4 * operand.width * lowering.maxTokens) {
    return positionsOf(lowering, node, value);
  }
  throw unsupported(
    node,
    `"${value?.name}" cannot be added: it has neither the shape of the other input nor one row per position`,
  );
}

function positionsOf(lowering: LoweringContext, node: Node, value: Value): PositionTable {
  const { positions: first, seconds: second } = lowering;
  const padding = first.paddings.get(value);
  const positions = storedRows(lowering, `${node.name}.positions`, first, value);
  const typed = second?.tables.has(value) && {
    second: storedRows(lowering, `${node.name}.positions.second`, second, value),
  };
  return { positions, ...typed, ...(padding && { padding: padding.id }) };
}

/** Stores a table with one row per position. If padding tokens have their own row, this row comes first. Returns the table's name. */
function storedRows(lowering: LoweringContext, name: string, from: PositionTables, value: Value): string {
  const table = toFloat32(from.tables.get(value) as Tensor);
  const padding = from.paddings.get(value);
  const rows = padding ? concatenate<Float32Array>(Float32Array, [padding.row, table]) : table;
  const width = table.length / lowering.maxTokens;
  return lowering.floats(name, rows, [rows.length / width, width]);
}
