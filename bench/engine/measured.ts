/** What a row's measurement gives. */
export interface Measured {
  /** What is compared with what is asked: a ratio, or an amount. */
  readonly figure: number;
  readonly ours: string;
  readonly other?: string;
  /** What else was seen on the way. */
  readonly details: Readonly<Record<string, unknown>>;
}

export const milliseconds = (ms: number): string => `${ms.toFixed(ms < 100 ? 2 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
