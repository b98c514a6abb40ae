import { BertEdgeError } from "../../artifact/error.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { Encoder } from "./checkpoint.ts";
import { type EncoderNames, encoderNames } from "./encoder-names.ts";

/** y = x · weightᵀ + bias, as torch.nn.Linear keeps it: weight [out, in], bias [out], float32. */
export interface Linear {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** Gain and offset of a layer normalisation, each of the width that it normalises, float32. */
export interface LayerNorm {
  readonly gamma: Tensor;
  readonly beta: Tensor;
}

export interface EncoderLayer {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly attentionOutput: Linear;
  readonly attentionNorm: LayerNorm;
  readonly intermediate: Linear;
  readonly output: Linear;
  readonly outputNorm: LayerNorm;
}

export interface EncoderWeights {
  /** [vocab, embedding] and [positions, embedding], float32. */
  readonly word: Tensor;
  readonly position: Tensor;
  /** [types, embedding]; undefined for encoders without token types. */
  readonly tokenType: Tensor | undefined;
  readonly norm: LayerNorm;
  /** From the embeddings' width to the hidden one, where they differ. */
  readonly projection: Linear | undefined;
  /** [buckets, heads], added to scores by relative position. */
  readonly relativePosition: Tensor | undefined;
  /** One a layer; the same object where layers share weights. */
  readonly layers: readonly EncoderLayer[];
}

/**
 * Picks an encoder's weights out of a checkpoint by transformers' names, with or without the prefix that models with a
 * task head carry.
 *
 * @throws BertEdgeError `checkpoint_invalid` naming the tensor that is missing, of another shape than config.json says, or
 *   not finite. The checks on probe texts cannot find the latter: few of a vocabulary's rows are in them.
 */
export function encoderWeights({ config, weights, folder }: Encoder): EncoderWeights {
  const names = encoderNames[config.model_type] as EncoderNames;
  const prefix = weights.has(`${names.prefix}embeddings.word_embeddings.weight`) ? names.prefix : "";
  const { hidden_size: hidden, embedding_size: embedding, intermediate_size: inner } = config;

  const take = (name: string, ...shape: number[]): Tensor => {
    const found = weights.get(prefix + name);
    const wants = `${prefix}${name} of shape [${shape}]`;
    const hint = "config.json and model.safetensors must come from the same model.";
    if (!found) throw new BertEdgeError("checkpoint_invalid", `${folder} has no tensor ${wants}.`, { hint });
    if (found.shape.join() !== shape.join()) {
      throw new BertEdgeError("checkpoint_invalid", `${folder} should have ${wants}, not [${found.shape}].`, { hint });
    }
    const values = toFloat32(found);
    if (!values.every(Number.isFinite)) {
      throw new BertEdgeError("checkpoint_invalid", `${folder}: ${prefix}${name} holds NaN or infinite numbers.`, {
        hint: "Its training diverged, or the file is damaged: take an earlier checkpoint or fetch it again.",
      });
    }
    return tensor("float32", shape, values);
  };
  const linear = (name: string, outputs: number, inputs: number): Linear => ({
    weight: take(`${name}.weight`, outputs, inputs),
    bias: take(`${name}.bias`, outputs),
  });
  const layerNorm = (name: string, width: number): LayerNorm => ({
    gamma: take(`${name}.weight`, width),
    beta: take(`${name}.bias`, width),
  });

  const groups = Array.from({ length: config.num_hidden_groups }, (_, group): EncoderLayer => {
    const layer = names.layer(group);
    return {
      query: linear(layer.query, hidden, hidden),
      key: linear(layer.key, hidden, hidden),
      value: linear(layer.value, hidden, hidden),
      attentionOutput: linear(layer.attentionOutput, hidden, hidden),
      attentionNorm: layerNorm(layer.attentionNorm, hidden),
      intermediate: linear(layer.intermediate, inner, hidden),
      output: linear(layer.output, hidden, inner),
      outputNorm: layerNorm(layer.outputNorm, hidden),
    };
  });
  const layersPerGroup = config.num_hidden_layers / config.num_hidden_groups;
  const { type_vocab_size: types, relative_attention_num_buckets: buckets } = config;
  return {
    word: take("embeddings.word_embeddings.weight", config.vocab_size, embedding),
    position: take("embeddings.position_embeddings.weight", config.max_position_embeddings, embedding),
    tokenType: types > 0 ? take("embeddings.token_type_embeddings.weight", types, embedding) : undefined,
    norm: layerNorm("embeddings.LayerNorm", embedding),
    projection: hasProjection(config) ? linear(names.projection, hidden, embedding) : undefined,
    relativePosition:
      buckets === undefined
        ? undefined
        : take("encoder.relative_attention_bias.weight", buckets, config.num_attention_heads),
    layers: Array.from(
      { length: config.num_hidden_layers },
      (_, i) => groups[Math.floor(i / layersPerGroup)] as EncoderLayer,
    ),
  };
}

/** ALBERT projects even to the same width. */
const hasProjection = ({ model_type, embedding_size, hidden_size }: Encoder["config"]) =>
  model_type === "albert" || embedding_size !== hidden_size;
