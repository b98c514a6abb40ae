/** What is known of the numbers that a linear map reads, from the tokens of a calibration. */
export interface Moments {
  /** Numbers a token has. */
  readonly width: number;
  readonly tokens: number;
  /** [width], Σ x over the tokens. */
  readonly sum: Float32Array;
  /** [width, width], Σ x xᵀ over the tokens. */
  readonly products: Float32Array;
}

/** [width], up to the number of tokens */
export const meanSquares = ({ width, products }: Pick<Moments, "width" | "products">): Float64Array =>
  Float64Array.from({ length: width }, (_, i) => products[i * width + i] as number);
