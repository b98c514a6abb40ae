import type { Value } from "../graph/node.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderWeights } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { layerNorm, linear } from "./layers.ts";
import { int64, positionsBesidePadding, range } from "./positions.ts";

/**
 * LayerNorm(words + positions + types), as far as there are tables for them, projected to the hidden width:
 * https://arxiv.org/abs/1810.04805, section 3.
 *
 * @param ids [batch, sequence]
 * @param types [batch, sequence]; undefined where there is one type at most
 * @returns [batch, sequence, hidden]
 */
export function embeddings(
  g: GraphWriter,
  config: EncoderConfig,
  weights: EncoderWeights,
  ids: Value,
  types: Value | undefined,
): Value {
  const words = g.op("words", "Gather", [g.constant("word_table", weights.word), ids]);
  const placed = addTypes(g, weights, addPositions(g, config, weights, words, ids), types);
  const normalized = layerNorm(g, "embeddings", placed, weights.norm, config.layer_norm_eps);
  return weights.projection ? linear(g, "embeddings.projection", normalized, weights.projection) : normalized;
}

function addPositions(
  g: GraphWriter,
  { position_padding_id: padding }: EncoderConfig,
  { position }: EncoderWeights,
  x: Value,
  ids: Value,
): Value {
  if (!position) return x;
  const rows =
    padding === undefined ? range(g, "position_ids", ids) : positionsBesidePadding(g, "position_ids", ids, padding);
  const positions = g.op("positions", "Gather", [g.constant("position_table", position), rows]);
  return g.op("words_positions", "Add", [x, positions]);
}

/** A table of one type is the same row for every token, and takes no input. */
function addTypes(g: GraphWriter, { tokenType }: EncoderWeights, x: Value, types: Value | undefined): Value {
  if (!tokenType) return x;
  const row = g.op("types", "Gather", [g.constant("type_table", tokenType), types ?? int64(g, 0)]);
  return g.op("words_positions_types", "Add", [x, row]);
}
