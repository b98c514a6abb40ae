import { MODEL, ROW_PARAMETERS } from "../constants/memory.ts";
import { TILE_OUTPUTS } from "../constants/tiles.ts";
import type { AttentionInt8, Kernels } from "../run/kernels.ts";
import { aligned } from "../run/memory-map.ts";
import { fieldsOf, type OperandReader, sizeOf, type TensorOffset } from "./operand-reader.ts";

/**
 * Terms of attention scores that depend on relative positions, as in DeBERTa: (query · position key + key · position query).
 * Each pair of tokens has a bucket, and each bucket has a position key and a position query for each head.
 */
export interface PositionTerms {
  /** i32 [2 · maxTokens − 1]. Entry j − i + maxTokens − 1 is the bucket of key j for query i. */
  readonly bucketOf: string;
  /** Number of buckets, a multiple of 8. */
  readonly buckets: number;
  readonly keys?: PositionWeights;
  readonly queries?: PositionWeights;
  /** f32 [buckets]: zeros, the bias of the matrix products with keys and queries. */
  readonly zeros: string;
}

/**
 * Position keys or position queries, as the weights of a linear layer for each head: u7 [heads · buckets/8, size/4, 8, 4]. The
 * other tensors have one number per head and bucket, like those of `linearInt8`.
 */
export interface PositionWeights {
  readonly weight: string;
  readonly scales: string;
  readonly zeroPoints: string;
  readonly sums: string;
}

export type CheckedPositionTerms = ReturnType<typeof positionTermsOf>;

type CheckedPositionWeights = { readonly [Tensor in keyof PositionWeights]: TensorOffset };

/** Checks the terms of `heads` heads with `size` numbers each. @throws ProgramFault */
export function positionTermsOf(
  terms: unknown,
  read: OperandReader,
  { heads, size, maxTokens }: { heads: number; size: number; maxTokens: number },
) {
  const given = fieldsOf(terms, "positions");
  const buckets = sizeOf(given["buckets"], "positions.buckets", TILE_OUTPUTS);
  const rows = sizeOf(heads * buckets, "heads · buckets");
  const weightsOf = (part: "keys" | "queries"): CheckedPositionWeights | undefined => {
    if (given[part] === undefined) return undefined;
    const fields = fieldsOf(given[part], `positions.${part}`);
    return {
      weight: read.tensor(fields["weight"], `positions.${part}.weight`, rows * size),
      scales: read.floats(fields["scales"], `positions.${part}.scales`, rows),
      zeroPoints: read.integers(fields["zeroPoints"], `positions.${part}.zeroPoints`, rows),
      sums: read.integers(fields["sums"], `positions.${part}.sums`, rows),
    };
  };
  return {
    bucketOf: read.integers(given["bucketOf"], "positions.bucketOf", 2 * maxTokens - 1),
    buckets,
    keys: weightsOf("keys"),
    queries: weightsOf("queries"),
    zeros: read.floats(given["zeros"], "positions.zeros", buckets),
  };
}

/** Offsets in the scratch memory of attention with relative positions. The offsets begin after the scratch memory of attentionInt8. */
interface PositionScratch {
  /** i8 [tokens, size]: quantized queries, which are later overwritten by quantized keys */
  readonly quantized: number;
  readonly parameters: number;
  /** f32 [tokens, buckets]: queries · position keys */
  readonly ofQueries: number;
  /** f32 [tokens, buckets]: keys · position queries */
  readonly ofKeys: number;
  /** f32 [tokens, tokens] */
  readonly biases: number;
  readonly end: number;
}

/** @param start end of attentionInt8's own scratch memory */
export function positionScratch(start: number, tokens: number, size: number, buckets: number): PositionScratch {
  const quantized = aligned(start);
  const parameters = aligned(quantized + tokens * size);
  const ofQueries = aligned(parameters + tokens * ROW_PARAMETERS);
  const ofKeys = ofQueries + 4 * tokens * buckets;
  const biases = ofKeys + 4 * tokens * buckets;
  return { quantized, parameters, ofQueries, ofKeys, biases, end: biases + 4 * tokens * tokens };
}

/** One head of one sequence. */
interface Head extends Pick<AttentionInt8, "query" | "key" | "stride" | "tokens" | "size"> {
  readonly positions: CheckedPositionTerms;
  readonly head: number;
  /** Address of the bucket of relative position 0. */
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
 * Finds the buckets that a sequence uses. A short text has only small distances, so the products of most buckets are not needed.
 *
 * @param bucketOf address of the bucket of relative position 0
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
