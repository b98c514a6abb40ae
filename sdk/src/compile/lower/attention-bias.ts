import { LOG2_E } from "../../runtime/engine/wasm/constants/arithmetic.ts";
import { TILE_OUTPUTS } from "../../runtime/engine/wasm/constants/tiles.ts";
import type { PositionTerms, PositionWeights } from "../../runtime/engine/wasm/ops/position-terms.ts";
import type { Node, Value } from "../graph/node.ts";
import { elementCount, numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { LoweringContext, Operand } from "./lowering-context.ts";
import { rowSums, tilePadded, tileWeight } from "./tile-weight.ts";
import { unsupported } from "./unsupported.ts";

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
function byDistance<T extends Float32Array | Int32Array>(
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

/**
 * Lowers the terms of attention scores that depend on relative positions. The attention step computes them from its own
 * queries and keys.
 *
 * @throws BertEdgeError `engine_unsupported` if the terms depend on other tensors, or on more than relative positions
 */
export function lowerPositionTerms(
  lowering: LoweringContext,
  node: Node,
  own: { readonly query: Operand; readonly key: Operand },
): PositionTerms {
  const [pairs, query, , , , key] = node.inputs;
  const heads = node.int("num_heads") ?? 0;
  for (const [value, operand] of [
    [query, own.query],
    [key, own.key],
  ] as const) {
    const found = lowering.operand(value);
    if (value && (found?.value !== operand.value || found.column !== operand.column))
      throw unsupported(node, `it reads "${value.name}", which is not the query or key of its attention`);
  }
  const table = pairs && lowering.table(pairs);
  const buckets = table && byDistance(Int32Array.from(numbersOf(table)), table.shape, lowering.maxTokens);
  if (!buckets) throw unsupported(node, "its buckets must depend only on the distance between two tokens");
  const [keys, queries] = [1, 5].map((first) =>
    weightsOf(lowering, node, node.inputs.slice(first + 1, first + 4), heads),
  );
  const count = (keys ?? queries)?.buckets ?? 0;
  if (buckets.some((bucket) => bucket < 0 || bucket >= count))
    throw unsupported(node, "it uses a bucket that its position keys and position queries do not have");
  const padded = TILE_OUTPUTS * Math.ceil(count / TILE_OUTPUTS);
  return {
    bucketOf: lowering.tensor(`${pairs.name}.by_distance`, tensor("int32", [buckets.length], buckets)),
    buckets: padded,
    ...(keys && { keys: keys.tensors }),
    ...(queries && { queries: queries.tensors }),
    zeros: lowering.floats(`zeros.${padded}`, new Float32Array(padded)),
  };
}

/** Arranges position keys or position queries for the GEMM of each head. The outputs of each GEMM are padded to whole tiles. */
function weightsOf(
  lowering: LoweringContext,
  node: Node,
  inputs: readonly (Value | undefined)[],
  heads: number,
): { readonly tensors: PositionWeights; readonly buckets: number } | undefined {
  const [values, scales, zeroPoints] = inputs.map((input) => input?.constant);
  const name = inputs[0]?.name;
  if (!values || !scales || !zeroPoints || name === undefined) return undefined;
  if (values.dtype !== "uint8") throw unsupported(node, "only 7-bit position keys and position queries are supported");
  const [outputs = 0, size = 0] = values.shape;
  const buckets = outputs / heads;
  const ofHeads = <T extends Float32Array | Int32Array>(all: T): T[] =>
    Array.from({ length: heads }, (_, head) => tilePadded(all.slice(head * buckets, (head + 1) * buckets) as T));
  const integers = (part: string, all: Int32Array) => {
    const joined = Int32Array.from(ofHeads(all).flatMap((each) => [...each]));
    return lowering.tensor(`${name}.${part}`, tensor("int32", [joined.length], joined));
  };
  const tiles = Array.from({ length: heads }, (_, head) => {
    const data = values.data.subarray(head * buckets * size, (head + 1) * buckets * size);
    return tileWeight(tensor("uint8", [buckets, size], Uint8Array.from(data)));
  });
  return {
    buckets,
    tensors: {
      weight: lowering.tensor(name, joinedTiles(tiles)),
      scales: lowering.floats(
        `${name}.scales`,
        Float32Array.from(ofHeads(toFloat32(scales)).flatMap((each) => [...each])),
      ),
      zeroPoints: integers("zeroPoints", Int32Array.from(numbersOf(zeroPoints))),
      sums: integers("sums", rowSums(values.data, size, outputs)),
    },
  };
}

function joinedTiles(tiles: readonly Tensor[]): Tensor {
  const [first] = tiles;
  const [rows = 0, ...others] = first?.shape ?? [];
  const size = elementCount(first?.shape ?? []);
  const all = new Uint8Array(tiles.length * size);
  for (const [i, { data }] of tiles.entries()) all.set(data, i * size);
  return tensor("uint8", [tiles.length * rows, ...others], all);
}
