import { LOG2_E } from "../../runtime/engine/wasm/constants/arithmetic.ts";
import type { Value } from "../graph/node.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
import type { LoweringContext } from "./lowering-context.ts";

/**
 * Stores a bias of attention scores as a table with one row per head: bias[h, i, j] = table[h, j − i + maxTokens − 1].
 *
 * @returns undefined if the bias depends on anything other than the distance j − i of two tokens
 */
export function lowerRelativeBias(
  lowering: LoweringContext,
  bias: Value,
): { table: string; heads: number } | undefined {
  const found = bias.constant ?? lowering.table(bias);
  const rows = found && distances(found, lowering.maxTokens);
  if (!rows) return undefined;
  const width = 2 * lowering.maxTokens - 1;
  const heads = rows.length / width;
  return {
    table: lowering.floats(
      `${bias.name}.distances`,
      rows.map((distance) => distance * LOG2_E),
      [heads, width],
    ),
    heads,
  };
}

function distances(found: Tensor, tokens: number): Float32Array | undefined {
  const numbers = found.dtype === "float32" ? toFloat32(found) : undefined;
  return numbers && byDistance(numbers, found.shape, tokens);
}

/**
 * Reduces square matrices to one number for each distance: matrix[i, j] = result[j − i + tokens − 1].
 *
 * @param numbers matrices [tokens, tokens]
 * @returns [matrices, 2 · tokens − 1]; undefined if a number depends on anything other than the distance j − i
 */
export function byDistance<T extends Float32Array | Int32Array>(
  numbers: T,
  shape: readonly number[],
  tokens: number,
): T | undefined {
  const square = tokens * tokens;
  if (shape.at(-1) !== tokens || shape.at(-2) !== tokens || numbers.length % square !== 0) return undefined;
  const width = 2 * tokens - 1;
  const rows = new (numbers.constructor as new (length: number) => T)((numbers.length / square) * width);
  for (let head = 0; head * square < numbers.length; head++) {
    const at = (i: number, j: number) => numbers[head * square + i * tokens + j] as number;
    for (let i = 0; i < tokens; i++) rows[head * width + tokens - 1 - i] = at(i, 0);
    for (let j = 0; j < tokens; j++) rows[head * width + tokens - 1 + j] = at(0, j);
    for (let i = 1; i < tokens; i++) {
      for (let j = 1; j < tokens; j++) if (at(i, j) !== at(i - 1, j - 1)) return undefined;
    }
  }
  return rows;
}
