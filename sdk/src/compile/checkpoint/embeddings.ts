import type { Value } from "../graph/node.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderWeights } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { writeLinear, writeNorm } from "./layers.ts";
import { int64, writePositionsAfterPadding, writeRange } from "./positions.ts";

/**
 * Writes LayerNorm(tokens + positions + types), projected to the hidden size: https://arxiv.org/abs/1810.04805,
 * section 3. Encoders without a position table or a token type table have fewer terms. Some encoders do not normalize the
 * sum.
 *
 * @param ids [batch, sequence]
 * @param types [batch, sequence]; undefined for encoders with at most one token type
 * @returns [batch, sequence, hidden]
 */
export function writeEmbeddings(
  g: GraphWriter,
  config: EncoderConfig,
  weights: EncoderWeights,
  ids: Value,
  types: Value | undefined,
): Value {
  const tokens = g.op("tokens", "Gather", [g.constant("token_table", weights.tokens), ids]);
  const placed = addTypes(g, weights, addPositions(g, config, weights, tokens, ids), types);
  const normalized = weights.norm ? writeNorm(g, "embeddings", placed, weights.norm, config) : placed;
  return weights.projection ? writeLinear(g, "embeddings.projection", normalized, weights.projection) : normalized;
}

function addPositions(
  g: GraphWriter,
  { positionPaddingId: padding }: EncoderConfig,
  { position }: EncoderWeights,
  x: Value,
  ids: Value,
): Value {
  if (!position) return x;
  const rows =
    padding === undefined
      ? writeRange(g, "position_ids", ids)
      : writePositionsAfterPadding(g, "position_ids", ids, padding);
  const positions = g.op("positions", "Gather", [g.constant("position_table", position), rows]);
  return g.op("tokens_positions", "Add", [x, positions]);
}

/**
 * Adds the token type embeddings. If the table has one row, every token gets this row and the graph needs no input for
 * types.
 */
function addTypes(g: GraphWriter, { tokenType }: EncoderWeights, x: Value, types: Value | undefined): Value {
  if (!tokenType) return x;
  const row = g.op("types", "Gather", [g.constant("type_table", tokenType), types ?? int64(g, 0)]);
  return g.op("tokens_positions_types", "Add", [x, row]);
}
