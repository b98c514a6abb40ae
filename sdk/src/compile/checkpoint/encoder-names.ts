/** One of several linear maps that are kept one below the other in one tensor. */
interface PackedName {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
}

/** A linear map's name; `.weight` and `.bias` follow. */
export type LinearName = string | PackedName;

/** Where a family keeps a layer's tensors; EncoderLayer says what each is. */
export interface LayerNames {
  readonly query: LinearName;
  readonly key: LinearName;
  readonly value: LinearName;
  readonly attentionOutput: LinearName;
  readonly attentionNorm: string | undefined;
  readonly intermediate: LinearName;
  readonly factor?: LinearName;
  readonly output: LinearName;
  readonly feedForwardNorm: string;
}

/** Where a family keeps an encoder's tensors; `.weight` and `.bias` follow. */
export interface EncoderNames {
  /** Put before every name by models with a task head. */
  readonly prefix: string;
  readonly words: string;
  readonly norm: string;
  readonly projection?: string;
  readonly finalNorm?: string;
  readonly layer: (group: number) => LayerNames;
}
