import type { Value } from "../../sdk/src/build/graph/node.ts";
import type { Sketch } from "./sketch.ts";

export const HIDDEN = 8;
export const HEADS = 2;
export const SIZE = HIDDEN / HEADS;

export const dense = (s: Sketch, x: Value, width = HIDDEN): Value => {
  const inputs = x.shape?.at(-1);
  return s.op("Add", [
    s.op("MatMul", [x, s.random([typeof inputs === "number" ? inputs : HIDDEN, width])]),
    s.random([width]),
  ]);
};

export const split = (s: Sketch, x: Value, heads = HEADS, size = SIZE): Value =>
  s.op("Transpose", [s.op("Reshape", [x, [0, 0, heads, size]])], { perm: [0, 2, 1, 3] });

export const merge = (s: Sketch, context: Value): Value =>
  s.op("Reshape", [s.op("Transpose", [context], { perm: [0, 2, 1, 3] }), [0, 0, -1]]);

/** What an exporter may write otherwise. */
export interface AttentionParts {
  /** Queries, keys and values [batch, heads, sequence, size]. */
  readonly heads?: (s: Sketch, x: Value) => readonly [q: Value, k: Value, v: Value];
  readonly transposed?: (s: Sketch, k: Value) => Value;
  readonly scores?: (s: Sketch, q: Value, kTransposed: Value) => Value;
  readonly masked?: (s: Sketch, scores: Value) => Value;
  readonly softmax?: (s: Sketch, masked: Value) => Value;
  readonly probabilities?: (s: Sketch, softmax: Value) => Value;
  readonly merged?: (s: Sketch, context: Value) => Value;
}

/** Self-attention as PyTorch exports it, unless parts say otherwise. */
export function drawAttention(s: Sketch, x: Value, parts: AttentionParts = {}): Value {
  const separate = () => [split(s, dense(s, x)), split(s, dense(s, x)), split(s, dense(s, x))] as const;
  const [q, k, v] = parts.heads?.(s, x) ?? separate();
  const keys = parts.transposed?.(s, k) ?? s.op("Transpose", [k], { perm: [0, 1, 3, 2] });
  const scores = parts.scores?.(s, q, keys) ?? s.op("Div", [s.op("MatMul", [q, keys]), Math.sqrt(SIZE)]);
  const masked = parts.masked?.(s, scores) ?? scores;
  const softmax = parts.softmax?.(s, masked) ?? s.op("Softmax", [masked], { axis: -1 });
  const context = s.op("MatMul", [parts.probabilities?.(s, softmax) ?? softmax, v]);
  return (parts.merged ?? merge)(s, context);
}

/** One row after the other: no padding, padding on the right, padding on the left. */
export function paddedRows({ batch = 0, sequence = 0 }: Readonly<Record<string, number>>): number[] {
  return Array.from({ length: batch * sequence }, (_, i) => {
    const [row, key] = [Math.floor(i / sequence), i % sequence];
    return [1, key < sequence - 2 ? 1 : 0, key >= 2 ? 1 : 0][row % 3] ?? 1;
  });
}
