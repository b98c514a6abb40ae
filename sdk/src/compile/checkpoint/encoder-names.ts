/** Name of a linear layer that is stacked with others in one tensor. */
interface StackedName {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

/** Name of a linear layer, without `.weight` and `.bias`. */
export type LinearName = string | StackedName;

/** Names of a layer's tensors; `EncoderLayer` describes the tensors. */
export interface LayerNames {
  readonly query: LinearName;
  readonly key: LinearName;
  readonly value: LinearName;
  readonly attentionOutput: LinearName;
  readonly attentionNorm: string | undefined;
  readonly intermediate: LinearName;
  readonly upProjection?: LinearName;
  readonly output: LinearName;
  readonly feedForwardNorm: string;
}

/** Names of an encoder's tensors, without `.weight` and `.bias`. */
export interface EncoderNames {
  /** Prefix of every name in models with a task head. */
  readonly prefix: string;
  /** Name of the token embedding table. */
  readonly tokens: string;
  readonly norm: string;
  readonly projection?: string;
  readonly finalNorm?: string;
  readonly layer: (group: number) => LayerNames;
}
