/** Where a family keeps a layer's tensors; `.weight` and `.bias` follow. */
interface LayerNames {
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly attentionOutput: string;
  readonly attentionNorm: string;
  readonly intermediate: string;
  readonly output: string;
  readonly outputNorm: string;
}

/** transformers' names of an encoder's tensors. */
export interface EncoderNames {
  /** Put before every name by models with a task head. */
  readonly prefix: string;
  readonly projection: string;
  readonly layer: (group: number) => LayerNames;
}

const bertLayer = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    query: `${layer}.attention.self.query`,
    key: `${layer}.attention.self.key`,
    value: `${layer}.attention.self.value`,
    attentionOutput: `${layer}.attention.output.dense`,
    attentionNorm: `${layer}.attention.output.LayerNorm`,
    intermediate: `${layer}.intermediate.dense`,
    output: `${layer}.output.dense`,
    outputNorm: `${layer}.output.LayerNorm`,
  };
};

const distilBertLayer = (index: number): LayerNames => {
  const layer = `transformer.layer.${index}`;
  return {
    query: `${layer}.attention.q_lin`,
    key: `${layer}.attention.k_lin`,
    value: `${layer}.attention.v_lin`,
    attentionOutput: `${layer}.attention.out_lin`,
    attentionNorm: `${layer}.sa_layer_norm`,
    intermediate: `${layer}.ffn.lin1`,
    output: `${layer}.ffn.lin2`,
    outputNorm: `${layer}.output_layer_norm`,
  };
};

const albertLayer = (index: number): LayerNames => {
  const layer = `encoder.albert_layer_groups.${index}.albert_layers.0`;
  return {
    query: `${layer}.attention.query`,
    key: `${layer}.attention.key`,
    value: `${layer}.attention.value`,
    attentionOutput: `${layer}.attention.dense`,
    attentionNorm: `${layer}.attention.LayerNorm`,
    intermediate: `${layer}.ffn`,
    output: `${layer}.ffn_output`,
    outputNorm: `${layer}.full_layer_layer_norm`,
  };
};

const mpnetLayer = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    ...bertLayer(index),
    query: `${layer}.attention.attn.q`,
    key: `${layer}.attention.attn.k`,
    value: `${layer}.attention.attn.v`,
    attentionOutput: `${layer}.attention.attn.o`,
    attentionNorm: `${layer}.attention.LayerNorm`,
  };
};

const projection = "embeddings_project";

/** By model_type. */
export const encoderNames: Readonly<Record<string, EncoderNames>> = {
  bert: { prefix: "bert.", projection, layer: bertLayer },
  electra: { prefix: "electra.", projection, layer: bertLayer },
  roberta: { prefix: "roberta.", projection, layer: bertLayer },
  "xlm-roberta": { prefix: "roberta.", projection, layer: bertLayer },
  camembert: { prefix: "roberta.", projection, layer: bertLayer },
  distilbert: { prefix: "distilbert.", projection, layer: distilBertLayer },
  albert: { prefix: "albert.", projection: "encoder.embedding_hidden_mapping_in", layer: albertLayer },
  mpnet: { prefix: "mpnet.", projection, layer: mpnetLayer },
};
