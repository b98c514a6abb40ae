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

/** Statistics of x ⊙ factors, stored as the statistics of x: a scaled Gram matrix would be a second large array. */
export interface ScaledStatistics extends ActivationStatistics {
  /** [width]. Default: 1 for every channel. */
  readonly factors?: Float32Array | undefined;
}

/** Looks up statistics by the name of the layer's weight matrix, in memory or in a file. */
export type CalibrationStatistics = Pick<ReadonlyMap<string, ActivationStatistics>, "get">;

/** Looks up statistics of inputs that are smoothed, by the name of the layer's weight matrix. */
export interface ScaledCalibration {
  readonly get: (weight: string) => ScaledStatistics | undefined;
}

/** Σ x² of every input channel: the diagonal of the Gram matrix, [width]. */
export const sumsOfSquares = ({ width, gram, factors }: Pick<ScaledStatistics, "width" | "gram" | "factors">) =>
  Float64Array.from({ length: width }, (_, i) => (gram[i * width + i] as number) * (factors?.[i] ?? 1) ** 2);
