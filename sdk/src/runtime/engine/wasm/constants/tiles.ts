/*
 * Sizes that kernels and their callers must agree on. TypeScript and AssemblyScript both compile this file.
 */

/** A tile of a weight matrix has 8 outputs by 4 inputs: two vectors of 16 bytes. */
export const TILE_OUTPUTS = 8;
export const TILE_INPUTS = 4;

/**
 * Rows per tile of a GEMM: TILE_ROWS with relaxed SIMD, PLAIN_TILE_ROWS without. The sums and operands of such a tile
 * fit into sixteen vector registers. These numbers can be decreased without other changes. To increase them, add
 * variables for more sums to `tile-relaxed.ts`, `tile-plain.ts`, `store-tile.ts` and `gemm.ts`.
 */
export const TILE_ROWS = 6;
export const PLAIN_TILE_ROWS = 2;

/** Maximum head size of attention. The kernels' buffers have this length. */
export const MAX_HEAD_SIZE = 256;

/** Number of queries whose scores are in memory at a time. */
export const QUERY_BLOCK = 24;

/** Bytes of the parameters of a group of 4-bit weights: eight bases of a byte, and eight multipliers of half a byte. */
export const GROUP_PARAMETERS = 12;

/** Bytes of weights that gemmInt8 reads for all rows before it goes on: half of a 1 MiB L2 cache. The other half is for the rows. */
export const WEIGHT_BLOCK = 1 << 19;
