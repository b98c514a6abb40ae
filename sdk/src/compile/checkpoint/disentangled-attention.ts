import { int, ints, type Value } from "../graph/node.ts";
import { float32Scalar, int64s, tensor } from "../graph/tensor.ts";
import type { DisentangledAttention, EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer, EncoderWeights } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, int64, writeLinear, writeNorm, writeOffsets } from "./layers.ts";
import { relativeRow } from "./score-biases.ts";
import type { LinearWeights } from "./take-weights.ts";

/** Relative positions of a text, and their embeddings. */
export interface RelativePositions {
  /** Embeddings of the buckets of relative positions, [buckets, hidden]. */
  readonly embeddings: Value;
  /**
   * For each query and key, the bucket of their relative position, counted from `first`: [1, 1, sequence, sequence], int32.
   */
  readonly rows: Value;
  /**
   * First bucket that the text uses, and the bucket after the last: [1], int32. A short text has only small distances, so
   * products with the other buckets are not computed.
   */
  readonly first: Value;
  readonly end: Value;
}

/**
 * Writes the embeddings of relative positions, normalized if the encoder does so, and the bucket of each pair of tokens.
 *
 * @param positions maximum text length in tokens
 */
export function writeRelativePositions(
  g: GraphWriter,
  config: EncoderConfig,
  relative: DisentangledAttention,
  { relativeEmbeddings, relativeNorm }: EncoderWeights,
  positions: number,
  ids: Value,
): RelativePositions | undefined {
  if (!relativeEmbeddings) return undefined;
  const table = g.constant("relative_table", relativeEmbeddings);
  const embeddings = relativeNorm ? writeNorm(g, "relative_embeddings", table, relativeNorm, config) : table;
  const byOffset = Int32Array.from({ length: 2 * positions - 1 }, (_, i) => relativeRow(i - positions + 1, relative));
  const offsets = g.op("relative_offsets", "Add", [writeOffsets(g, "relative_offset", ids), int64(g, positions - 1)]);
  const rowOf = g.constant("relative_row_by_offset", tensor("int32", [byOffset.length], byOffset));
  const rows = g.op("relative_rows", "Gather", [rowOf, offsets]);
  const heads = g.op("relative_rows.heads", "Unsqueeze", [rows, axes(g, 0, 1)]);
  // Keys after the query have earlier buckets. So the first bucket in use is that of the last key for the first query.
  const length = g.op("relative_length", "Slice", [g.op("relative_shape", "Shape", [ids]), axes(g, 1), axes(g, 2)]);
  const lengthAt = (part: string, operator: "Add" | "Sub", operands: [Value, Value]) =>
    g.op(`relative_${part}`, "Gather", [rowOf, g.op(`relative_${part}.at`, operator, operands)]);
  const first = lengthAt("first", "Add", [length, int64(g, positions - 2)]);
  const last = lengthAt("last", "Sub", [int64(g, positions), length]);
  const one = g.constant("int32_1", tensor("int32", [], Int32Array.of(1)));
  const end = g.op("relative_end", "Add", [last, one]);
  return { embeddings, rows: g.op("relative_used", "Sub", [heads, first]), first, end };
}

/**
 * Writes the two terms of disentangled attention that depend on relative positions (https://arxiv.org/abs/2006.03654,
 * section 3.1), as biases of the attention scores:
 *
 *     content to position: q · positionKey(bucket)ᵀ / √(size · terms)
 *     position to content: k · positionQuery(bucket)ᵀ / √(size · terms)
 *
 * @param query queries [batch, heads, sequence, size]
 * @param key keys of the same shape
 * @returns at most two biases, [batch, heads, sequence, sequence]
 */
export function writePositionTerms(
  g: GraphWriter,
  name: string,
  { query, key }: { readonly query: Value; readonly key: Value },
  layer: Pick<EncoderLayer, "positionKey" | "positionQuery">,
  config: EncoderConfig,
  { embeddings, rows, first, end }: RelativePositions,
): Value[] {
  const { heads, hiddenSize: hidden, scoreTerms } = config;
  const size = hidden / heads;
  const term = (part: string, content: Value, weights: LinearWeights, index: Value) => {
    const projected = writeLinear(g, `${name}.${part}`, embeddings, weights);
    const perHead = g.op(`${name}.${part}.heads`, "Reshape", [
      projected,
      g.constant("split_relative", int64s(-1, heads, size)),
    ]);
    const moved = g.op(`${name}.${part}.moved`, "Transpose", [perHead], { perm: ints(1, 2, 0) });
    const scale = g.constant("relative_scale", float32Scalar(1 / Math.sqrt(size * scoreTerms)));
    const scaled = g.op(`${name}.${part}.scaled`, "Mul", [moved, scale]);
    const used = g.op(`${name}.${part}.used`, "Slice", [
      scaled,
      first,
      end,
      g.constant("relative_last_axis", tensor("int32", [1], Int32Array.of(2))),
    ]);
    const scores = g.op(`${name}.${part}.scores`, "MatMul", [content, used]);
    return gathered(g, `${name}.${part}`, { scores, content, index });
  };
  const biases: Value[] = [];
  if (layer.positionKey) biases.push(term("content_to_position", query, layer.positionKey, rows));
  if (layer.positionQuery) {
    // The scores have a row for each key. Therefore the pairs of tokens are transposed before and after.
    const keyRows = g.op("relative_rows.keys", "Transpose", [rows], { perm: ints(0, 1, 3, 2) });
    const byKey = term("position_to_content", key, layer.positionQuery, keyRows);
    biases.push(g.op(`${name}.position_to_content.byQuery`, "Transpose", [byKey], { perm: ints(0, 1, 3, 2) }));
  }
  return biases;
}

/**
 * Writes scores[b, h, i, index[i, j]].
 *
 * @param scores [batch, heads, sequence, buckets]
 * @param content queries or keys [batch, heads, sequence, size]
 * @param index [1, 1, sequence, sequence]
 * @returns [batch, heads, sequence, sequence]
 */
function gathered(
  g: GraphWriter,
  name: string,
  { scores, content, index }: { readonly scores: Value; readonly content: Value; readonly index: Value },
): Value {
  const [start, middle, end] = [0, 2, 4].map((at) => g.constant(`relative_axis_${at}`, int64s(at)));
  const sizes = (part: string, of: Value, from: Value | undefined, to: Value | undefined) =>
    g.op(`${name}.${part}`, "Slice", [g.op(`${name}.${part}.shape`, "Shape", [of]), from as Value, to as Value]);
  const shape = g.op(
    `${name}.shape`,
    "Concat",
    [sizes("texts", content, start, middle), sizes("pairs", index, middle, end)],
    { axis: int(0) },
  );
  const indices = g.op(`${name}.indices`, "Expand", [index, shape]);
  return g.op(`${name}.gathered`, "GatherElements", [scores, indices], { axis: int(-1) });
}
