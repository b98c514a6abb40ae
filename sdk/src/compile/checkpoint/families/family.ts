import type * as v from "valibot";
import type { EncoderConfig } from "../encoder-config.ts";
import type { FamilyHeads } from "../head-formula.ts";

/**
 * Name of a linear layer that shares one tensor with other linear layers. The rows of the tensor are divided into
 * `parts` equal parts, and the layer has part number `part`.
 */
interface StackedName {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

/** Name of a linear layer, without `.weight` and `.bias`. */
export type LinearName = string | StackedName;

/** Names of a layer's tensors. `EncoderLayer` describes the tensors. */
export interface LayerNames {
  readonly query: LinearName;
  readonly key: LinearName;
  readonly value: LinearName;
  /** Layer normalizations of all queries and all keys, before they are split into heads. */
  readonly queryNorm?: string;
  readonly keyNorm?: string;
  /** Linear layers that project position embeddings, in encoders that do not use the linear layers of queries and keys for this. */
  readonly positionKey?: string;
  readonly positionQuery?: string;
  readonly attentionOutput: LinearName;
  readonly attentionNorm: string | undefined;
  readonly secondAttentionNorm?: string;
  readonly intermediate: LinearName;
  readonly upProjection?: LinearName;
  readonly output: LinearName;
  readonly feedForwardNorm: string;
}

/** Names of an encoder's tensors, without `.weight` and `.bias`. */
export interface EncoderNames {
  /** Prefix of the encoder's tensor names in checkpoints of models with a task head. */
  readonly prefix: string;
  /** Name of the token embedding table. */
  readonly tokens: string;
  readonly norm: string | undefined;
  readonly projection?: string;
  readonly relativeEmbeddings?: string;
  readonly relativeNorm?: string;
  readonly finalNorm?: string;
  readonly layer: (group: number) => LayerNames;
}

/** A family of encoders: its config.json, its task heads, and the names of its tensors. */
export interface Family {
  /** Translates the family's config.json. */
  readonly config: v.GenericSchema<unknown, EncoderConfig>;
  /** Names of the tensors in the family's checkpoints. There are several sets if the names changed between versions. */
  readonly names: readonly [EncoderNames, ...EncoderNames[]];
  readonly heads: FamilyHeads;
}

export const bertLayer = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    query: `${layer}.attention.self.query`,
    key: `${layer}.attention.self.key`,
    value: `${layer}.attention.self.value`,
    attentionOutput: `${layer}.attention.output.dense`,
    attentionNorm: `${layer}.attention.output.LayerNorm`,
    intermediate: `${layer}.intermediate.dense`,
    output: `${layer}.output.dense`,
    feedForwardNorm: `${layer}.output.LayerNorm`,
  };
};

/** Names of BERT's tensors. Other families start from these names and change some. */
export const bertNames: EncoderNames = {
  prefix: "bert.",
  tokens: "embeddings.word_embeddings",
  norm: "embeddings.LayerNorm",
  layer: bertLayer,
};

/**
 * Makes a function that returns the tensor names of a layer in checkpoints of transformers 5.
 *
 * @param attentionNorm name of the first normalization within the layer
 * @param feedForwardNorm name of the second normalization within the layer
 */
export const currentLayer =
  (attentionNorm: string, feedForwardNorm: string) =>
  (index: number): LayerNames => {
    const layer = `layers.${index}`;
    return {
      query: `${layer}.self_attn.q_proj`,
      key: `${layer}.self_attn.k_proj`,
      value: `${layer}.self_attn.v_proj`,
      attentionOutput: `${layer}.self_attn.o_proj`,
      attentionNorm: `${layer}.${attentionNorm}`,
      intermediate: `${layer}.mlp.gate_proj`,
      upProjection: `${layer}.mlp.up_proj`,
      output: `${layer}.mlp.down_proj`,
      feedForwardNorm: `${layer}.${feedForwardNorm}`,
    };
  };
