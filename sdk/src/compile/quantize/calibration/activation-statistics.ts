/** Statistics of the numbers that a linear layer reads, over the tokens of the calibration texts. */
export interface ActivationStatistics {
  /** Numbers per token. */
  readonly width: number;
  readonly tokens: number;
  /** [width], Σ x over the tokens. */
  readonly sum: Float32Array;
  /** Gram matrix [width, width], Σ x xᵀ over the tokens. */
  readonly gram: Float32Array;
}

/** Statistics by the name of the layer's weight matrix; a map, or a file that is read on demand. */
export type CalibrationStatistics = Pick<ReadonlyMap<string, ActivationStatistics>, "get">;

/** Σ x² of every input channel: the diagonal of the Gram matrix, [width]. */
export const sumsOfSquares = ({ width, gram }: Pick<ActivationStatistics, "width" | "gram">): Float64Array =>
  Float64Array.from({ length: width }, (_, i) => gram[i * width + i] as number);
