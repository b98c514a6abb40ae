import { symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { writeRelativePositions } from "./disentangled-attention.ts";
import { type EncoderConfig, maxTokensOf } from "./encoder-config.ts";
import { postNormLayer, preNormLayer } from "./encoder-layer.ts";
import type { EncoderWeights } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import { int64, writeLinear, writeNorm, writePositionsAfterPadding, writeRange } from "./layers.ts";
import { writeRotation } from "./rotary-positions.ts";
import { maskBias, windowBias, writeLinearBias, writeRelativeBias } from "./score-biases.ts";

/** Graph values that a task head reads from an encoder. */
interface EncoderValues {
  /** [batch, sequence, hidden] */
  readonly hiddenStates: Value;
  /** Attention mask, an input of the graph: [batch, sequence], int64. */
  readonly mask: Value;
}

/**
 * Writes an encoder's graph in standard operators, formula by formula, with the checkpoint's tensors. Inputs and output
 * have the same names and types as in transformers' own ONNX exports.
 *
 * The architecture is BERT's (https://arxiv.org/abs/1810.04805). Comments in this folder say where other families
 * differ.
 */
export function encoderGraph(config: EncoderConfig, weights: EncoderWeights): Graph {
  const g = new GraphWriter(config.modelType);
  const { hiddenStates } = writeEncoder(g, config, weights);
  g.graph.outputs.push({ name: "last_hidden_state", value: hiddenStates, declaration: undefined });
  inferShapes(g.graph);
  return g.graph;
}

/** Writes an encoder's inputs and nodes, without outputs. */
export function writeEncoder(g: GraphWriter, config: EncoderConfig, weights: EncoderWeights): EncoderValues {
  const input = (name: string) =>
    g.graph.input(name, { dtype: "int64", shape: [symbolicDim("batch"), symbolicDim("sequence")] });
  const ids = input("input_ids");
  const mask = input("attention_mask");
  const types = config.tokenTypes > 1 ? input("token_type_ids") : undefined;

  let x = writeEmbeddings(g, config, weights, ids, types);
  const positions = layerPositions(g, config, weights, ids, mask);
  const encoderLayer = config.normalizesFirst ? preNormLayer : postNormLayer;
  weights.layers.forEach((layer, index) => {
    x = encoderLayer(g, `layer.${index}`, x, layer, config, positions(index));
  });
  if (weights.finalNorm) x = writeNorm(g, "norm", x, weights.finalNorm, config);
  return { hiddenStates: x, mask };
}

/**
 * Returns a function from a layer's index to its `AttentionPositions`. Layers with the same attention window share the
 * window's bias, and layers with the same rotary base share cosines and sines.
 */
function layerPositions(g: GraphWriter, config: EncoderConfig, weights: EncoderWeights, ids: Value, mask: Value) {
  const maxTokens = maxTokensOf(config);
  const { relativePosition } = weights;
  const { disentangledAttention: disentangled } = config;
  const headSize = config.hiddenSize / config.heads;
  const everywhere = [maskBias(g, mask)];
  if (relativePosition) everywhere.push(writeRelativeBias(g, relativePosition, maxTokens, ids));
  if (config.hasLinearBiases) everywhere.push(writeLinearBias(g, config.heads, ids));
  const windows = once((radius: number) => windowBias(g, radius, ids));
  const rotations = once((theta: number) =>
    writeRotation(g, { theta, scaling: config.rotaryScaling, size: headSize }, maxTokens, ids),
  );
  const relative = disentangled && writeRelativePositions(g, config, disentangled, weights, maxTokens, ids);
  return (index: number) => {
    const radius = config.windowRadius?.[index];
    const theta = config.rotaryTheta?.[index];
    return {
      biases: radius === undefined ? everywhere : [...everywhere, windows(radius)],
      relative,
      rotation: theta === undefined ? undefined : rotations(theta),
    };
  };
}

/** Returns a function that calls `make` only once for each argument, and keeps the result. */
function once<A, R>(make: (argument: A) => R): (argument: A) => R {
  const made = new Map<A, R>();
  return (argument) => {
    const result = made.get(argument) ?? make(argument);
    made.set(argument, result);
    return result;
  };
}

/**
 * Writes LayerNorm(tokens + positions + types), projected to the hidden size: https://arxiv.org/abs/1810.04805,
 * section 3. Encoders without a position table or a token type table have fewer terms. Some encoders do not normalize the
 * sum.
 *
 * @param ids [batch, sequence]
 * @param types [batch, sequence]; undefined for encoders with at most one token type
 * @returns [batch, sequence, hidden]
 */
function writeEmbeddings(
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
