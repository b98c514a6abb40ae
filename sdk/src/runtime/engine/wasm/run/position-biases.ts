import { MODEL } from "../constants/memory.ts";
import { TILE_OUTPUTS } from "../constants/tiles.ts";
import type { CheckedPositionTerms, CheckedPositionWeights } from "./checked-program.ts";
import type { AttentionInt8, Kernels } from "./kernels.ts";
import { positionScratch } from "./position-scratch.ts";

/** One head of one sequence. */
interface Head extends Pick<AttentionInt8, "query" | "key" | "stride" | "tokens" | "size"> {
  readonly positions: CheckedPositionTerms;
  readonly head: number;
  /** Address of the bucket of offset 0. */
  readonly bucketOf: number;
  readonly used: UsedBuckets;
  readonly scratch: number;
}

/** Buckets of the relative positions in one sequence, rounded to whole tiles of the GEMM. */
export interface UsedBuckets {
  readonly first: number;
  readonly count: number;
}

/**
 * Finds the buckets that a sequence uses. A short text has only small distances, so most products would not be read.
 *
 * @param bucketOf address of the bucket of offset 0
 */
export function usedBuckets(
  memory: WebAssembly.Memory,
  bucketOf: number,
  tokens: number,
  buckets: number,
): UsedBuckets {
  // A DataView reads a table at any address; nothing checks that tensors are aligned.
  const words = new DataView(memory.buffer, bucketOf - 4 * (tokens - 1), 4 * (2 * tokens - 1));
  let [least, most] = [buckets - 1, 0];
  for (let at = 0; at < words.byteLength; at += 4) {
    const bucket = Math.min(Math.max(words.getInt32(at, true), 0), buckets - 1);
    least = Math.min(least, bucket);
    most = Math.max(most, bucket);
  }
  const first = least - (least % TILE_OUTPUTS);
  return { first, count: most - (most % TILE_OUTPUTS) + TILE_OUTPUTS - first };
}

/**
 * Computes the terms of attention scores that depend on relative positions: multiplies queries and keys with the position
 * keys and position queries of all buckets that the sequence uses, and adds the products of each pair of tokens.
 *
 * @returns operands of attentionInt8
 */
export function positionBiases(
  kernels: Kernels,
  { positions, query, key, stride, tokens, size, head, bucketOf, used, scratch }: Head,
): Pick<AttentionInt8, "bias" | "biasStep"> {
  const { keys, queries, buckets, zeros } = positions;
  const at = positionScratch(scratch + kernels.attentionScratch(tokens, size), tokens, size, buckets);
  const multiply = (x: number, weights: CheckedPositionWeights | undefined, out: number) => {
    if (!weights) return 0;
    const ofHead = (tensor: number, bytes: number) => MODEL + tensor + (head * buckets + used.first) * bytes;
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
      n: used.count,
      out,
      stride: used.count,
    });
    return out;
  };
  const ofQueries = multiply(query, keys, at.ofQueries);
  const ofKeys = multiply(key, queries, at.ofKeys);
  kernels.positionBiasesF32(ofQueries, ofKeys, used.first, used.count, bucketOf, tokens, at.biases);
  return { bias: at.biases, biasStep: 4 * tokens };
}
