/*
 * Sizes that kernels and their callers must agree on. TypeScript and AssemblyScript both compile this file.
 */

/** A tile of a weight matrix has 8 outputs by 4 inputs: two vectors of 16 bytes. */
export const TILE_OUTPUTS = 8;
export const TILE_INPUTS = 4;

/** Rows per tile of a GEMM, with relaxed SIMD: their sums fill the sixteen vector registers. */
export const TILE_ROWS = 6;

/** Largest head of attention: the kernels have buffers of this length. */
export const MAX_HEAD_SIZE = 256;

/** Queries whose scores are in memory at a time. */
export const QUERY_BLOCK = 24;
