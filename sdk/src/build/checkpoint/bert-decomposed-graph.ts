import { GraphBuilder } from "../graph/builder.ts";
import { float, type Graph, int, ints } from "../graph/plain.ts";
import { float32Scalar, int64s } from "../graph/tensor.ts";
import type { BertConfig } from "./bert-config.ts";
import { bertInputs, bertOutput } from "./bert-signature.ts";
import type { BertLayer, BertWeights, LayerNorm, Linear } from "./bert-weights.ts";

/** Added to the score of a masked position: exp of it is 0 in float32, and a sum with it stays finite. */
const MASKED = -1e9;

/**
 * BERT written out in standard operators, formula by formula, from the checkpoint's tensors as they are. It shares no
 * code with the fused graph, because it is what that one is checked against.
 *
 * Devlin et al. 2018 (https://arxiv.org/abs/1810.04805); post-layer-normalisation Transformer encoder.
 */
export function bertDecomposedGraph(config: BertConfig, weights: BertWeights): Graph {
  const g = new GraphBuilder();
  const heads = config.num_attention_heads;
  const headSize = config.hidden_size / heads;

  const layerNorm = (name: string, x: string, { gamma, beta }: LayerNorm) =>
    g.op(name, "LayerNormalization", [x, g.constant(`${name}.gamma`, gamma), g.constant(`${name}.beta`, beta)], {
      attributes: { epsilon: float(config.layer_norm_eps), axis: int(-1) },
    });
  const linear = (name: string, x: string, { weight, bias }: Linear) => {
    const transposed = g.op(`${name}.transposed`, "Transpose", [g.constant(`${name}.weight`, weight)], {
      attributes: { perm: ints(1, 0) },
    });
    const product = g.op(`${name}.product`, "MatMul", [x, transposed]);
    return g.op(name, "Add", [product, g.constant(`${name}.bias`, bias)]);
  };
  // gelu(x) = x · ½ · (1 + erf(x / √2))
  const gelu = (name: string, x: string) => {
    const scaled = g.op(`${name}.scaled`, "Div", [x, g.constant("sqrt2", sqrt2)]);
    const onePlusErf = g.op(`${name}.sum`, "Add", [g.op(`${name}.erf`, "Erf", [scaled]), g.constant("one", one)]);
    return g.op(name, "Mul", [g.op(`${name}.x_sum`, "Mul", [x, onePlusErf]), g.constant("half", half)]);
  };
  const attention = (name: string, x: string, bias: string, layer: BertLayer) => {
    const split = g.constant("split_heads", splitHeads);
    const projected = (part: string, weightsOf: Linear, perm: number[]) => {
      const rows = linear(`${name}.${part}`, x, weightsOf);
      const perHead = g.op(`${name}.${part}.heads`, "Reshape", [rows, split]);
      return g.op(`${name}.${part}.moved`, "Transpose", [perHead], { attributes: { perm: ints(...perm) } });
    };
    const query = projected("query", layer.query, [0, 2, 1, 3]);
    const key = projected("key", layer.key, [0, 2, 3, 1]);
    const value = projected("value", layer.value, [0, 2, 1, 3]);
    const products = g.op(`${name}.products`, "MatMul", [query, key]);
    const scaled = g.op(`${name}.scaled`, "Div", [products, g.constant("sqrt_head_size", sqrtHeadSize)]);
    const masked = g.op(`${name}.masked`, "Add", [scaled, bias]);
    const probabilities = g.op(`${name}.softmax`, "Softmax", [masked], { attributes: { axis: int(-1) } });
    const context = g.op(`${name}.context`, "MatMul", [probabilities, value]);
    const moved = g.op(`${name}.context.moved`, "Transpose", [context], { attributes: { perm: ints(0, 2, 1, 3) } });
    return g.op(name, "Reshape", [moved, g.constant("join_heads", joinHeads)]);
  };

  const sqrt2 = float32Scalar(Math.SQRT2);
  const one = float32Scalar(1);
  const half = float32Scalar(0.5);
  const sqrtHeadSize = float32Scalar(Math.sqrt(headSize));
  const splitHeads = int64s(0, 0, heads, headSize);
  const joinHeads = int64s(0, 0, config.hidden_size);

  const words = g.op("words", "Gather", [g.constant("word_table", weights.word), "input_ids"]);
  const types = g.op("types", "Gather", [g.constant("type_table", weights.tokenType), "token_type_ids"]);
  const sequence = g.op("sequence", "Gather", [g.op("shape", "Shape", ["input_ids"]), g.constant("axis1", int64s(1))]);
  const positions = g.op("positions", "Slice", [
    g.constant("position_table", weights.position),
    g.constant("zero", int64s(0)),
    sequence,
    g.constant("axis0", int64s(0)),
  ]);
  const sum = g.op("embeddings.sum", "Add", [g.op("words_types", "Add", [words, types]), positions]);
  let x = layerNorm("embeddings", sum, weights.norm);

  // (1 − mask) · MASKED, as [batch, 1, 1, sequence]
  const mask = g.op("mask", "Cast", ["attention_mask"], { attributes: { to: int(1) } });
  const absent = g.op("absent", "Sub", [g.constant("one", one), mask]);
  const rowBias = g.op("row_bias", "Mul", [absent, g.constant("masked", float32Scalar(MASKED))]);
  const bias = g.op("bias", "Unsqueeze", [rowBias, g.constant("axes12", int64s(1, 2))]);

  weights.layers.forEach((layer, index) => {
    const name = `layer.${index}`;
    const context = attention(`${name}.attention`, x, bias, layer);
    const projected = linear(`${name}.attention.output`, context, layer.attentionOutput);
    const attended = layerNorm(
      `${name}.attention.norm`,
      g.op(`${name}.attention.residual`, "Add", [projected, x]),
      layer.attentionNorm,
    );
    const inner = gelu(`${name}.gelu`, linear(`${name}.intermediate`, attended, layer.intermediate));
    const output = linear(`${name}.output`, inner, layer.output);
    x = layerNorm(`${name}.norm`, g.op(`${name}.residual`, "Add", [output, attended]), layer.outputNorm);
  });
  g.op("last_hidden_state", "Identity", [x]);
  return g.build("bert-decomposed", bertInputs, [bertOutput(config.hidden_size)]);
}
