/** The result of a row's measurement. */
export interface Measured {
  /** The figure that the row's limit is compared with: a ratio or an amount. */
  readonly figure: number;
  readonly ours: string;
  readonly other?: string;
  /** Other observations of the measurement. */
  readonly details: Readonly<Record<string, unknown>>;
}

export const milliseconds = (ms: number): string => `${ms.toFixed(ms < 100 ? 2 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
