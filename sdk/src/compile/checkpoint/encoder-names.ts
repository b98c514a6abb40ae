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
  /** Linear layers that project position embeddings, in encoders whose queries and keys have other projections. */
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
