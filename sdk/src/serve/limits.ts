export interface Limits {
  /** Maximum number of texts in a request. Default 2,048, the same as OpenAI. */
  maxInputs: number;
  /** Maximum bytes of a request body. Default 4,000,000: 2,048 texts of almost 2,000 characters. */
  maxBodyBytes: number;
  /** Maximum predicted wait of a request without a latency budget, in ms. A longer queue is refused. Default 30,000. */
  maxWaitMs: number;
  /** Maximum characters of all texts that wait or are computed, to limit memory. Default 16,000,000. */
  maxWaitingCharacters: number;
  /** Maximum bytes of a request's outputs. Default 16,777,216: vectors of 2,048 dimensions for 2,048 texts. */
  maxOutputBytes: number;
}
export const defaultLimits: Limits = {
  maxInputs: 2_048,
  maxBodyBytes: 4_000_000,
  maxWaitMs: 30_000,
  maxWaitingCharacters: 16_000_000,
  maxOutputBytes: 16 * 1024 * 1024,
};
