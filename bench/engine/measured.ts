/** The measurements of a row. */
export interface Measured {
  /** The number that is compared with the limit: a ratio or a size. */
  readonly figure: number;
  readonly ours: string;
  readonly other?: string;
  /** Smallest cosine of the measured engine's vectors with those of onnxruntime in float32. */
  readonly agreement?: number;
  /** Further measurements, for the JSON output. */
  readonly details: Readonly<Record<string, unknown>>;
}

export const milliseconds = (ms: number): string => `${ms.toFixed(ms < 100 ? 2 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
