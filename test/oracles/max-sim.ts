import type { TokenVectors } from "#sdk/runtime/tasks/token-vectors.ts";

/** Computes Σ over the tokens of a query of the largest product with a token of a document: https://arxiv.org/abs/2004.12832 */
export function maxSim(query: TokenVectors, document: TokenVectors): number {
  const [rows, others] = [rowsOf(query), rowsOf(document)];
  return rows.reduce((sum, row) => sum + Math.max(...others.map((other) => product(row, other))), 0);
}

const rowsOf = ({ vectors, dimensions }: TokenVectors): Float32Array[] =>
  Array.from({ length: vectors.length / dimensions }, (_, i) => vectors.subarray(i * dimensions, (i + 1) * dimensions));

const product = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
