/** Statistics of a linear layer's input x, summed over all tokens of the calibration texts. */
export interface ActivationStatistics {
  /** Length of x: input channels of the layer. */
  readonly width: number;
  readonly tokens: number;
  /** Σ x, [width]. */
  readonly sum: Float32Array;
  /** Gram matrix Σ x xᵀ, [width, width]. */
  readonly gram: Float32Array;
}

/** Looks up statistics by the name of the layer's weight matrix, in memory or in a file. */
export type CalibrationStatistics = Pick<ReadonlyMap<string, ActivationStatistics>, "get">;

/** Σ x² of every input channel: the diagonal of the Gram matrix, [width]. */
export const sumsOfSquares = ({ width, gram }: Pick<ActivationStatistics, "width" | "gram">): Float64Array =>
  Float64Array.from({ length: width }, (_, i) => gram[i * width + i] as number);
