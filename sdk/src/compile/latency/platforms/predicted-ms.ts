import type { LatencyFit } from "../../../artifact/measurements.ts";

/** Lengths in tokens for which latency is reported. */
const LENGTHS = [8, 32, 128, 512];

/** Returns the reported lengths for a model: up to its maximum, which replaces the longer ones. */
export const reportedLengths = (maxTokens: number): number[] => [
  ...new Set(LENGTHS.map((length) => Math.min(length, maxTokens))),
];

/** Predicts the milliseconds for one text of `tokens` tokens from a latency fit. */
export const predictedMs = ({ base, perToken, perSquare }: LatencyFit, tokens: number): number =>
  base + perToken * tokens + perSquare * tokens ** 2;
