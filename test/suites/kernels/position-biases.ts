import fc from "fast-check";
import { LOG2_E } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { fround } from "../../oracles/reference/float32.ts";
import type { KernelCase } from "./kernel-case.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly tokens: number;
  /** First bucket of the two matrices. */
  readonly first: number;
  readonly buckets: number;
  /** Which of the two terms the call has. */
  readonly terms: "both" | "queries" | "keys";
}

/** Buckets of DeBERTa-v3. */
const BUCKETS = 512;

export const positionBiasesF32: KernelCase<Shape> = {
  shapes: fc.record({
    tokens: fc.constantFrom(1, 2, 3, 7, 16, 33),
    first: fc.constantFrom(0, 8),
    buckets: fc.constantFrom(8, 16, 24),
    terms: fc.constantFrom("both", "queries", "keys"),
  }),
  call({ tokens, first, buckets, terms }, draw) {
    const ofQueries = terms === "keys" ? undefined : draw.floats(tokens, buckets);
    const ofKeys = terms === "queries" ? undefined : draw.floats(tokens, buckets);
    // Some buckets do not exist. They count as the last one.
    const bucketOf = Int32Array.from(draw.integers(2 * tokens - 1, first - 2, first + buckets + 1));
    const out = unwritten(tokens * tokens);
    const bucketAt = (offset: number) => {
      const bucket = (bucketOf[offset + tokens - 1] as number) - first;
      return bucket < 0 || bucket >= buckets ? buckets - 1 : bucket;
    };
    return {
      operands: [ofQueries ?? 0, ofKeys ?? 0, first, buckets, { array: bucketOf, from: tokens - 1 }, tokens, out],
      async results() {
        const values = Float32Array.from({ length: tokens * tokens }, (_, at) => {
          const [i, j] = [Math.floor(at / tokens), at % tokens];
          const [a, b] = [ofQueries?.[i * buckets + bucketAt(j - i)], ofKeys?.[j * buckets + bucketAt(j - i)]];
          const sum = a === undefined ? (b as number) : b === undefined ? a : fround(a + b);
          return sum * LOG2_E;
        });
        return new Map([[out, { values }]]);
      },
    };
  },
  passes: ({ tokens }) => [{ shape: { tokens, first: 0, buckets: BUCKETS, terms: "both" }, times: 0 }],
  unit: "number",
  work: ({ tokens }) => tokens * tokens,
};
