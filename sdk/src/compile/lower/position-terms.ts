import { TILE_OUTPUTS } from "../../runtime/engine/wasm/constants/tiles.ts";
import type { PositionTerms, PositionWeights } from "../../runtime/engine/wasm/ops/position-terms.ts";
import type { Node, Value } from "../graph/node.ts";
import { elementCount, numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { LoweringContext, Operand } from "./lowering-context.ts";
import { byDistance } from "./relative-bias.ts";
import { rowSums } from "./row-sums.ts";
import { tilePadded, tileWeight } from "./tile-weight.ts";
import { unsupported } from "./unsupported.ts";

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
      throw unsupported(node, `it reads "${value.name}", which its attention does not read`);
  }
  const table = pairs && lowering.table(pairs);
  const buckets = table && byDistance(Int32Array.from(numbersOf(table)), table.shape, lowering.maxTokens);
  if (!buckets) throw unsupported(node, "its buckets must depend only on the distance between two tokens");
  const [keys, queries] = [1, 5].map((first) =>
    weightsOf(lowering, node, node.inputs.slice(first + 1, first + 4), heads),
  );
  const count = (keys ?? queries)?.buckets ?? 0;
  if (buckets.some((bucket) => bucket < 0 || bucket >= count)) throw unsupported(node, "a bucket does not exist");
  const padded = TILE_OUTPUTS * Math.ceil(count / TILE_OUTPUTS);
  return {
    bucketOf: lowering.tensor(`${pairs.name}.by_distance`, tensor("int32", [buckets.length], buckets)),
    buckets: padded,
    ...(keys && { keys: keys.tensors }),
    ...(queries && { queries: queries.tensors }),
    zeros: lowering.floats(`zeros.${padded}`, new Float32Array(padded)),
  };
}

/** Arranges position keys or position queries for the GEMM of each head, whose outputs are filled up to whole tiles. */
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
