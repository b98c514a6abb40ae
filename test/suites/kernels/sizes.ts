import fc from "fast-check";
import { BLOCK } from "#sdk/runtime/engine/wasm/run/layout.ts";
import type { Pass } from "./kernel-case.ts";

/** Row counts just below, at and above the sizes of all tiles and blocks. */
export const someRows = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 23, 24, 25, 47, 49);

/** Widths are multiples of four. */
export const widths = fc.constantFrom(1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 25).map((fours) => 4 * fours);

/** Number of extra columns at the end of each row. The kernel must skip them. */
export const spare = fc.constantFrom(0, 1, 4, 7, 12);

/**
 * Lists the shapes of a kernel's calls for a text. The engine computes the rows of a text in blocks of `BLOCK` rows.
 *
 * @param times number of calls per block
 */
export function inBlocks<Shape>(tokens: number, times: number, shapeOf: (rows: number) => Shape): Pass<Shape>[] {
  const passes = [
    { shape: shapeOf(BLOCK), times: times * Math.floor(tokens / BLOCK) },
    { shape: shapeOf(tokens % BLOCK), times: tokens % BLOCK === 0 ? 0 : times },
  ];
  return passes.filter((pass) => pass.times > 0);
}

/** Lists one shape with zero calls, for a kernel that BERT does not use. */
export const elsewhere = <Shape>(tokens: number, shapeOf: (rows: number) => Shape): Pass<Shape>[] => [
  { shape: shapeOf(Math.min(tokens, BLOCK)), times: 0 },
];
