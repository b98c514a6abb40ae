import type { PositionTable, Skip } from "../../runtime/engine/wasm/run/program.ts";
import type { Node, Value } from "../graph/node.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
import type { Lowering, Operand } from "./lowering.ts";
import { unsupported } from "./unsupported.ts";

/** One row of float32 numbers, whatever is before its last axis. */
export const isRow = (value: Value | undefined, width: number): value is Value & { constant: Tensor } =>
  value?.constant?.dtype === "float32" &&
  value.constant.data.length === 4 * width &&
  value.constant.shape.at(-1) === width;

/** What is read in the engine, all its columns. */
export function whole(lowering: Lowering, node: Node, index = 0): Operand {
  const operand = lowering.operand(node.inputs[index]);
  if (operand && lowering.isWhole(operand)) return operand;
  const name = node.inputs[index]?.name ?? `${index}`;
  const reason = operand
    ? "is a slice of a tensor; only a whole tensor can be read here"
    : "does not depend on the text";
  throw unsupported(node, `its input "${name}" ${reason}`);
}

/** Both have a row a token, or both one a sequence. */
export const haveSameRows = (lowering: Lowering, a: Operand, b: Operand) => lowering.rowsOf(a) === lowering.rowsOf(b);

/** What is added to `operand` and is not one row for all: another value, or a row for each position. */
export function addendOf(lowering: Lowering, node: Node, value: Value | undefined, operand: Operand): Skip {
  const other = value && lowering.operand(value);
  if (other && haveSameRows(lowering, other, operand)) {
    return { value: whole(lowering, node, node.inputs.indexOf(value)).value };
  }
  const table = value && lowering.tables.get(value);
  if (table && table.shape.at(-1) === operand.width && table.data.length === 4 * operand.width * lowering.maxTokens) {
    return positionsOf(lowering, node, value, toFloat32(table));
  }
  throw unsupported(
    node,
    `"${value?.name}" cannot be added: it has neither the shape of the other input nor one row for each position`,
  );
}

function positionsOf(lowering: Lowering, node: Node, value: Value, table: Float32Array): PositionTable {
  const padding = lowering.paddings.get(value);
  const rows = padding ? joined(padding.row, table) : table;
  const width = table.length / lowering.maxTokens;
  const positions = lowering.floats(`${node.name}.positions`, rows, [rows.length / width, width]);
  return { positions, ...(padding && { padding: padding.id }) };
}

function joined(first: Float32Array, second: Float32Array): Float32Array {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
