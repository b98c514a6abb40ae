import fc from "fast-check";
import { LOG2_E } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import type { Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { quantizedAttention } from "../../oracles/reference/attention.ts";
import { integerProduct } from "../../oracles/reference/integer-product.ts";
import type { Drawing } from "./drawing.ts";
import type { From, KernelCase } from "./kernel-case.ts";
import { spare } from "./sizes.ts";
import { columnsOf, unwritten, withColumns } from "./strided.ts";

interface Shape {
  readonly tokens: number;
  /** Numbers per head. */
  readonly size: number;
  /** Stride of queries, keys and values, which are columns of one matrix. */
  readonly stride: number;
  readonly outStride: number;
  /**
   * Maximum number of tokens for which the bias table suffices. The table contains one bias for each signed distance
   * (key − query). If `span` is 0, there is no table.
   */
  readonly span: number;
  /** Whether every query has a row of biases of its own, instead of the table. */
  readonly isDense: boolean;
}

/** Maximum magnitude for which products of two numbers are finite in float32. */
const MAX = 1e18;

export const attentionInt8: KernelCase<Shape> = {
  shapes: fc
    .record({
      tokens: fc.constantFrom(1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49, 100),
      size: fc.constantFrom(4, 8, 12, 20, 32, 64, 96, 256),
      spare,
      outSpare: spare,
      beyond: fc.constantFrom(undefined, 0, 1, 9),
      isDense: fc.boolean(),
    })
    .map(({ tokens, size, spare, outSpare, beyond, isDense }) => ({
      isDense,
      tokens,
      size,
      stride: 3 * size + spare,
      outStride: size + outSpare,
      span: beyond === undefined ? 0 : tokens + beyond,
    })),
  call({ tokens, size, stride, outStride, span, isDense }, draw) {
    const x = draw.floats(tokens, stride, MAX);
    const distances = span ? biases(2 * span - 1, draw) : undefined;
    const out = unwritten(tokens * outStride);
    const scale = 1 / Math.sqrt(size);
    const [query, key, value] = [0, 1, 2].map((part) => ({ array: x, from: part * size })) as [From, From, From];
    const scratch = { scratchBytes: (kernels: Kernels) => kernels.attentionScratch(tokens, size) };
    const factor = Math.fround(LOG2_E * scale);
    const matrix = distances && biasOf(distances, tokens, span);
    const byDistance = distances?.map((distance) => distance * LOG2_E);
    const bias = isDense
      ? (matrix?.map((each) => each * LOG2_E) ?? 0)
      : byDistance
        ? { array: byDistance, from: span - 1 }
        : 0;
    const step = isDense ? 4 * tokens : -4;
    return {
      operands: [query, key, value, stride, tokens, size, factor, bias, step, out, outStride, scratch],
      async results() {
        const part = (index: number) => columnsOf(x, stride, size, index * size);
        const found = await quantizedAttention(
          {
            query: part(0),
            key: part(1),
            value: part(2),
            bias: matrix,
            heads: 1,
            size,
            scale,
          },
          integerProduct,
        );
        return new Map([[out, { values: withColumns(out, outStride, size, found) }]]);
      },
    };
  },
  passes: ({ tokens, layers, hidden, heads }) => [
    {
      shape: { tokens, size: hidden / heads, stride: 3 * hidden, outStride: hidden, span: 0, isDense: false },
      times: layers * heads,
    },
  ],
  unit: "integer MAC",
  work: ({ tokens, size }) => 2 * tokens * tokens * size,
};

/**
 * Draws one bias per signed distance (key − query). A bias of −∞ hides the key. The bias for distance 0 is not −∞, so
 * every token sees at least itself.
 */
function biases(length: number, draw: Drawing): Float32Array<ArrayBuffer> {
  const isHidden = draw.integers(length, 0, 1);
  const drawn = draw.floats(1, length, MAX);
  return drawn.map((bias, i) => (isHidden[i] === 1 && i !== length >> 1 ? Number.NEGATIVE_INFINITY : bias));
}

/** Expands the table with one bias per distance to a matrix with one bias per query and key, [tokens, tokens]. */
const biasOf = (distances: Float32Array, tokens: number, span: number): Float32Array<ArrayBuffer> =>
  Float32Array.from(
    { length: tokens * tokens },
    (_, at) => distances[(at % tokens) - Math.floor(at / tokens) + span - 1] as number,
  );
