import { GEMM_A, GEMM_K, GEMM_M, GEMM_N, GEMM_WEIGHT } from "../constants/memory";
import { PLAIN_TILE_ROWS, TILE_OUTPUTS, TILE_ROWS, WEIGHT_BLOCK } from "../constants/tiles";
import { CONTEXT, LINEAR, SCORES } from "./store-tile";
import { tilePlain } from "./tile-plain";
import { tileRelaxed } from "./tile-relaxed";

/** Rows per tile. */
const ROWS: i32 = ASC_FEATURE_RELAXED_SIMD ? TILE_ROWS : PLAIN_TILE_ROWS;

/**
 * Computes a linear layer: (Σ a·w − zeroₐ Σ w − zero_w (Σ a − k·zeroₐ)) · scaleₐ · scale_w + bias
 *
 * Each row of `a` has its own zeroₐ and scaleₐ. Each output has its own zero_w and scale_w.
 *
 * @param call address of the struct of gemmInt8, see constants/memory.ts
 */
export function gemmInt8(call: usize): void {
  product(LINEAR, call);
}

/**
 * Computes attention scores for some queries: Σ q·k, without scales.
 *
 * @param call address of the struct of gemmInt8. `a` i8 [m, k] holds queries, the weight u7 [n/8, k/4, 8, 4] holds
 *   keys, and `out` is i32 [m, stride]. n is a multiple of 8. Row parameters, scales, zero points, sums and bias are
 *   not read.
 */
export function gemmScores(call: usize): void {
  product(SCORES, call);
}

/**
 * Computes the attention context of some queries: Σ p·v · scale_p · scaleᵥ
 *
 * @param call address of the struct of gemmInt8. `a` u7 [m, k] holds softmax numerators p, and the weight
 *   i8 [n/8, k/4, 8, 4] holds values v. Zero points, sums and bias are not read.
 */
export function gemmContext(call: usize): void {
  product(CONTEXT, call);
}

/** Computes one block of columns for all rows before the next block, so that the block's weights stay in the L2 cache. */
// @ts-ignore: decorator
@inline
function product(form: i32, call: usize): void {
  const m = load<i32>(call, GEMM_M);
  const n = load<i32>(call, GEMM_N);
  const columns = max(TILE_OUTPUTS, (WEIGHT_BLOCK / load<i32>(call, GEMM_K)) & -TILE_OUTPUTS);
  for (let from = 0; from < n; from += columns) {
    const to = min(from + columns, n);
    let row = 0;
    while (row < m) {
      const count = rowsOf(m - row);
      tiles(form, count, call, row, from, to);
      row += count;
    }
  }
}

/**
 * Computes all tiles of `count` rows, from column `from` to column `to`. Weights are read in the order in which they are
 * stored.
 */
// @ts-ignore: decorator
@inline
function tiles(form: i32, count: i32, call: usize, row: i32, from: i32, to: i32): void {
  const k = load<i32>(call, GEMM_K);
  const a = load<usize>(call, GEMM_A) + <usize>row * k;
  let w = load<usize>(call, GEMM_WEIGHT) + <usize>from * k;
  for (let column = from; column < to; column += TILE_OUTPUTS, w += TILE_OUTPUTS * k) {
    switch (count) {
      case 6:
        tile(form, 6, call, row, column, a, w, k);
        break;
      case 5:
        tile(form, 5, call, row, column, a, w, k);
        break;
      case 4:
        tile(form, 4, call, row, column, a, w, k);
        break;
      case 3:
        tile(form, 3, call, row, column, a, w, k);
        break;
      case 2:
        tile(form, 2, call, row, column, a, w, k);
        break;
      default:
        tile(form, 1, call, row, column, a, w, k);
    }
  }
}

/**
 * Returns the number of rows of the next tile when `left` rows are left. The last two tiles get about the same size,
 * because a small tile is slow: it has too few independent sums for the processor to compute at the same time.
 */
// @ts-ignore: decorator
@inline
function rowsOf(left: i32): i32 {
  return left <= ROWS ? left : left < 2 * ROWS - 1 && ROWS > 2 ? (left + 1) >> 1 : ROWS;
}

// @ts-ignore: decorator
@inline
function tile(form: i32, count: i32, call: usize, row: i32, column: i32, a: usize, w: usize, k: i32): void {
  if (ASC_FEATURE_RELAXED_SIMD) tileRelaxed(form, count, call, row, column, a, w, k);
  else tilePlain(form, count, call, row, column, a, w, k);
}
