import { float, int, ints } from "../graph/attribute.ts";
import { symbol } from "../graph/dim.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { float32Scalar, int64s, tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer.ts";
import { activation } from "./activation.ts";
import { type EncoderConfig, maxTokensOf } from "./encoder-config.ts";
import type { EncoderLayer, EncoderWeights, LayerNorm, Linear } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import { biasByOffset } from "./relative-positions.ts";

/** TensorProto.DataType */
const FLOAT = 1;
const INT64 = 7;

/** Added to the score of a masked position: exp of it is 0 in float32, and a sum with it stays finite. */
const MASKED = -1e9;

/**
 * An encoder written out in standard operators, formula by formula, from the checkpoint's tensors as they are. Inputs and
 * output are named and typed as transformers' own ONNX exports are.
 *
 * Post-layer-normalisation Transformer encoder, Devlin et al. 2018 (https://arxiv.org/abs/1810.04805); what other families
 * change in it is said where it is done.
 */
export function encoderGraph(config: EncoderConfig, weights: EncoderWeights): Graph {
  const g = new GraphWriter(config.model_type);
  const input = (name: string) => g.graph.input(name, { dtype: "int64", shape: [symbol("batch"), symbol("sequence")] });
  const ids = input("input_ids");
  const mask = input("attention_mask");

  let x = embeddings(g, config, weights, ids, config.type_vocab_size > 1 ? input("token_type_ids") : undefined);
  if (weights.projection) x = linear(g, "embeddings.projection", x, weights.projection);
  const biases = [maskBias(g, mask)];
  if (weights.relativePosition) biases.push(relativeBias(g, config, weights.relativePosition, ids));
  weights.layers.forEach((layer, index) => {
    x = encoderLayer(g, `layer.${index}`, x, biases, layer, config);
  });
  g.graph.outputs.push({ name: "last_hidden_state", value: x, declaration: undefined });
  inferShapes(g.graph);
  return g.graph;
}

function layerNorm(g: GraphWriter, name: string, x: Value, { gamma, beta }: LayerNorm, epsilon: number): Value {
  const parameters = [g.constant(`${name}.gamma`, gamma), g.constant(`${name}.beta`, beta)];
  return g.op(name, "LayerNormalization", [x, ...parameters], { epsilon: float(epsilon), axis: int(-1) });
}

function linear(g: GraphWriter, name: string, x: Value, { weight, bias }: Linear): Value {
  const transposed = g.op(`${name}.transposed`, "Transpose", [g.constant(`${name}.weight`, weight)], {
    perm: ints(1, 0),
  });
  return g.op(name, "Add", [g.op(`${name}.product`, "MatMul", [x, transposed]), g.constant(`${name}.bias`, bias)]);
}

function embeddings(
  g: GraphWriter,
  config: EncoderConfig,
  weights: EncoderWeights,
  ids: Value,
  types: Value | undefined,
): Value {
  const words = g.op("words", "Gather", [g.constant("word_table", weights.word), ids]);
  const positions = g.op("positions", "Gather", [
    g.constant("position_table", weights.position),
    positionIds(g, config, ids),
  ]);
  const placed = g.op("words_positions", "Add", [words, positions]);
  return layerNorm(g, "embeddings", addTypes(g, weights, placed, types), weights.norm, config.layer_norm_eps);
}

/** A table of one type is the same row for every token, and takes no input. */
function addTypes(g: GraphWriter, { tokenType }: EncoderWeights, x: Value, types: Value | undefined): Value {
  if (!tokenType) return x;
  const table = g.constant("type_table", tokenType);
  const row = g.op("types", "Gather", [table, types ?? g.constant("type0", tensor("int64", [], BigInt64Array.of(0n)))]);
  return g.op("words_positions_types", "Add", [x, row]);
}

/**
 * 0, 1, …, or as RoBERTa counts (https://github.com/facebookresearch/fairseq, make_positions): tokens that are not padding
 * from the padding id on, padding itself at that id.
 */
function positionIds(g: GraphWriter, { position_padding_id: padding }: EncoderConfig, ids: Value): Value {
  if (padding === undefined) return g.op("position_ids", "Range", [scalar(g, 0), length(g, ids), scalar(g, 1)]);
  const isPadding = g.op("is_padding", "Equal", [ids, scalar(g, padding)]);
  const isToken = g.op("is_token", "Cast", [g.op("is_not_padding", "Not", [isPadding])], { to: int(INT64) });
  const count = g.op("token_count", "CumSum", [isToken, scalar(g, 1)]);
  return g.op("position_ids", "Add", [g.op("token_position", "Mul", [count, isToken]), scalar(g, padding)]);
}

const scalar = (g: GraphWriter, value: number): Value =>
  g.constant(`int64_${value}`, tensor("int64", [], BigInt64Array.of(BigInt(value))));

const length = (g: GraphWriter, ids: Value): Value =>
  g.op("sequence", "Gather", [g.op("shape", "Shape", [ids]), scalar(g, 1)]);

/** (1 − mask) · MASKED, as [batch, 1, 1, sequence] */
function maskBias(g: GraphWriter, mask: Value): Value {
  const present = g.op("mask", "Cast", [mask], { to: int(FLOAT) });
  const absent = g.op("absent", "Sub", [g.constant("one", float32Scalar(1)), present]);
  const bias = g.op("row_bias", "Mul", [absent, g.constant("masked", float32Scalar(MASKED))]);
  return g.op("bias", "Unsqueeze", [bias, g.constant("axes12", int64s(1, 2))]);
}

/** MPNet (https://arxiv.org/abs/2004.09297): a number per head and bucket of relative positions, [1, heads, sequence, sequence]. */
function relativeBias(
  g: GraphWriter,
  config: EncoderConfig,
  table: NonNullable<EncoderWeights["relativePosition"]>,
  ids: Value,
): Value {
  const positions = maxTokensOf(config);
  const range = g.op("offsets", "Range", [scalar(g, 0), length(g, ids), scalar(g, 1)]);
  const [keys, queries] = [0, 1].map((axis) =>
    g.op(`offsets.${axis}`, "Unsqueeze", [range, g.constant(`axes${axis}`, int64s(axis))]),
  ) as [Value, Value];
  const offset = g.op("offset", "Sub", [keys, queries]);
  const row = g.op("offset_row", "Add", [offset, scalar(g, positions - 1)]);
  const perPair = g.op("relative", "Gather", [g.constant("bias_by_offset", biasByOffset(table, positions)), row]);
  const perHead = g.op("relative.heads", "Transpose", [perPair], { perm: ints(2, 0, 1) });
  return g.op("relative_bias", "Unsqueeze", [perHead, g.constant("axes0", int64s(0))]);
}

function encoderLayer(
  g: GraphWriter,
  name: string,
  x: Value,
  biases: readonly Value[],
  layer: EncoderLayer,
  config: EncoderConfig,
): Value {
  const epsilon = config.layer_norm_eps;
  const context = attention(g, `${name}.attention`, x, biases, layer, config);
  const projected = linear(g, `${name}.attention.output`, context, layer.attentionOutput);
  const residual = g.op(`${name}.attention.residual`, "Add", [projected, x]);
  const attended = layerNorm(g, `${name}.attention.norm`, residual, layer.attentionNorm, epsilon);
  const inner = linear(g, `${name}.intermediate`, attended, layer.intermediate);
  const output = linear(
    g,
    `${name}.output`,
    activation[config.hidden_act](g, `${name}.activation`, inner),
    layer.output,
  );
  return layerNorm(g, `${name}.norm`, g.op(`${name}.residual`, "Add", [output, attended]), layer.outputNorm, epsilon);
}

/** softmax(q · kᵀ / √size + biases) · v per head, https://arxiv.org/abs/1706.03762, section 3.2 */
function attention(
  g: GraphWriter,
  name: string,
  x: Value,
  biases: readonly Value[],
  layer: EncoderLayer,
  { num_attention_heads: heads, hidden_size: hidden }: EncoderConfig,
): Value {
  const size = hidden / heads;
  const split = g.constant("split_heads", int64s(0, 0, heads, size));
  const projected = (part: string, weights: Linear, perm: number[]) => {
    const perHead = g.op(`${name}.${part}.heads`, "Reshape", [linear(g, `${name}.${part}`, x, weights), split]);
    return g.op(`${name}.${part}.moved`, "Transpose", [perHead], { perm: ints(...perm) });
  };
  const query = projected("query", layer.query, [0, 2, 1, 3]);
  const key = projected("key", layer.key, [0, 2, 3, 1]);
  const value = projected("value", layer.value, [0, 2, 1, 3]);
  const products = g.op(`${name}.products`, "MatMul", [query, key]);
  const scaled = g.op(`${name}.scaled`, "Div", [
    products,
    g.constant("sqrt_head_size", float32Scalar(Math.sqrt(size))),
  ]);
  const masked = biases.reduce((scores, bias, i) => g.op(`${name}.masked.${i}`, "Add", [scores, bias]), scaled);
  const probabilities = g.op(`${name}.softmax`, "Softmax", [masked], { axis: int(-1) });
  const context = g.op(`${name}.context`, "MatMul", [probabilities, value]);
  const moved = g.op(`${name}.context.moved`, "Transpose", [context], { perm: ints(0, 2, 1, 3) });
  return g.op(name, "Reshape", [moved, g.constant("join_heads", int64s(0, 0, hidden))]);
}
