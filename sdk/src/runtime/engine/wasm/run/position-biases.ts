import { MODEL } from "../constants/memory.ts";
import type { CheckedPositionTerms, CheckedPositionWeights } from "./checked-program.ts";
import type { AttentionInt8, Kernels } from "./kernels.ts";
import { positionScratch } from "./position-scratch.ts";

/** One head of one sequence. */
interface Head extends Pick<AttentionInt8, "query" | "key" | "stride" | "tokens" | "size"> {
  readonly positions: CheckedPositionTerms;
  readonly head: number;
  /** Address of the bucket of offset 0. */
  readonly bucketOf: number;
  readonly scratch: number;
}

/**
 * Computes the terms of attention scores that depend on relative positions: multiplies queries and keys with the position
 * keys and position queries of all buckets, and adds the products of each pair of tokens.
 *
 * @returns operands of attentionInt8
 */
export function positionBiases(
  kernels: Kernels,
  { positions, query, key, stride, tokens, size, head, bucketOf, scratch }: Head,
): Pick<AttentionInt8, "bias" | "biasStep"> {
  const { keys, queries, buckets, zeros } = positions;
  const at = positionScratch(scratch + kernels.attentionScratch(tokens, size), tokens, size, buckets);
  const multiply = (x: number, weights: CheckedPositionWeights | undefined, out: number) => {
    if (!weights) return 0;
    const ofHead = (tensor: number, bytes: number) => MODEL + tensor + head * buckets * bytes;
    kernels.quantizeColumnsInt8(x, stride, tokens, size, at.quantized, at.parameters);
    kernels.gemmInt8({
      a: at.quantized,
      rowParameters: at.parameters,
      m: tokens,
      k: size,
      weight: ofHead(weights.weight, size),
      scales: ofHead(weights.scales, 4),
      zeroPoints: ofHead(weights.zeroPoints, 4),
      sums: ofHead(weights.sums, 4),
      bias: MODEL + zeros,
      n: buckets,
      out,
      stride: buckets,
    });
    return out;
  };
  const ofQueries = multiply(query, keys, at.ofQueries);
  const ofKeys = multiply(key, queries, at.ofKeys);
  kernels.positionBiasesF32(ofQueries, ofKeys, buckets, bucketOf, tokens, at.biases);
  return { bias: at.biases, biasStep: 4 * tokens };
}
