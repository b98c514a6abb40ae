import { GraphBuilder } from "../graph/builder.ts";
import { float, type Graph, int } from "../graph/plain.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { BertConfig } from "./bert-config.ts";
import { bertInputs, bertOutput } from "./bert-signature.ts";
import type { BertWeights, LayerNorm, Linear } from "./bert-weights.ts";

const INT32 = 6;

/**
 * BERT in onnxruntime's fused operators
 * (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md): one EmbedLayerNormalization, then per
 * layer Attention, MatMul, SkipLayerNormalization, MatMul, BiasGelu, MatMul, SkipLayerNormalization.
 *
 * The attention mask stays two-dimensional, so left-, right- and unpadded rows are all correct.
 */
export function bertFusedGraph(config: BertConfig, weights: BertWeights): Graph {
  const g = new GraphBuilder();
  const epsilon = float(config.layer_norm_eps);
  const norm = (name: string, { gamma, beta }: LayerNorm) => [
    g.constant(`${name}.gamma`, gamma),
    g.constant(`${name}.beta`, beta),
  ];
  const matMul = (name: string, x: string, { weight }: Linear) =>
    g.op(name, "MatMul", [x, g.constant(`${name}.weight`, columns(weight))]);
  const bias = (name: string, linear: Linear) => g.constant(`${name}.bias`, linear.bias);
  // LayerNorm(x + bias + skip)
  const skipLayerNorm = (name: string, x: string, skip: string, linear: Linear, layerNorm: LayerNorm) =>
    g.contrib(name, "SkipLayerNormalization", [x, skip, ...norm(name, layerNorm), bias(name, linear)], { epsilon });
  const toInt32 = (value: string) => g.op(`${value}.int32`, "Cast", [value], { attributes: { to: int(INT32) } });

  const mask = toInt32("attention_mask");
  g.node({
    name: "embeddings",
    domain: "com.microsoft",
    opType: "EmbedLayerNormalization",
    inputs: [
      toInt32("input_ids"),
      toInt32("token_type_ids"),
      g.constant("word_table", weights.word),
      g.constant("position_table", weights.position),
      g.constant("type_table", weights.tokenType),
      ...norm("embeddings", weights.norm),
    ],
    // The operator insists on its second output, a count of right padding, which nothing here reads.
    outputs: ["embeddings", "embeddings.mask_index"],
    attributes: { epsilon },
  });
  let x = "embeddings";
  weights.layers.forEach((layer, index) => {
    const name = `layer.${index}`;
    const { query, key, value } = layer;
    const context = g.contrib(
      `${name}.attention`,
      "Attention",
      [
        x,
        g.constant(`${name}.attention.weight`, columns(query.weight, key.weight, value.weight)),
        g.constant(`${name}.attention.bias`, endToEnd(query.bias, key.bias, value.bias)),
        mask,
      ],
      { num_heads: int(config.num_attention_heads) },
    );
    const projected = matMul(`${name}.attention.output`, context, layer.attentionOutput);
    const attended = skipLayerNorm(`${name}.attention.norm`, projected, x, layer.attentionOutput, layer.attentionNorm);
    const inner = matMul(`${name}.intermediate`, attended, layer.intermediate);
    const activated = g.contrib(`${name}.gelu`, "BiasGelu", [inner, bias(`${name}.gelu`, layer.intermediate)]);
    const output = matMul(`${name}.output`, activated, layer.output);
    x = skipLayerNorm(`${name}.norm`, output, attended, layer.output, layer.outputNorm);
  });
  g.op("last_hidden_state", "Identity", [x]);
  return g.build("bert", bertInputs, [bertOutput(config.hidden_size)]);
}

/** Weights [out_i, in] of linear maps of one input → [in, Σ out_i], the layout MatMul and Attention want. */
function columns(...weights: Tensor[]): Tensor {
  const inputs = weights[0]?.shape[1] ?? 0;
  const width = weights.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  const packed = new Float32Array(inputs * width);
  let column = 0;
  for (const weight of weights) {
    const rows = toFloat32(weight);
    for (let start = 0; start < rows.length; start += inputs, column++) {
      for (let i = 0; i < inputs; i++) packed[i * width + column] = rows[start + i] as number;
    }
  }
  return tensor("float32", [inputs, width], packed);
}

function endToEnd(...vectors: Tensor[]): Tensor {
  const values = vectors.flatMap((vector) => [...toFloat32(vector)]);
  return tensor("float32", [values.length], Float32Array.from(values));
}
