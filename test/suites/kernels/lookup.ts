import fc from "fast-check";
import { MICROSOFT } from "#sdk/compile/graph/node.ts";
import { EDGE } from "#sdk/compile/graph/operators.ts";
import { tensor } from "#sdk/compile/graph/tensor.ts";
import type { Drawing } from "./drawing.ts";
import type { KernelCase } from "./kernel-case.ts";
import { scalarKernel } from "./scalar-kernel.ts";
import { elsewhere, inBlocks, someRows, widths } from "./sizes.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly tokens: number;
  readonly entries: number;
  readonly width: number;
}

/** Number of table rows in benchmarks. A table of this size does not fit into the L1 and L2 caches. */
const BENCH_ENTRIES = 8192;

/** The operators that look up rows, by the bits of their tables. */
const operators = {
  8: (width: number) => ({
    rowBytes: width,
    operator: { opType: "GatherBlockQuantized", domain: MICROSOFT, settings: { bits: 8, block_size: width } },
  }),
  4: (width: number) => ({
    rowBytes: width / 2 + width / 32,
    operator: { opType: "LookupLevels", domain: EDGE, settings: { width } },
  }),
};

/** Makes a call that looks up rows of a table of 8-bit or 4-bit numbers, each with one scale. */
function callOf({ tokens, entries, width }: Shape, bits: 8 | 4, draw: Drawing) {
  const { rowBytes, operator } = operators[bits](width);
  const table = Uint8Array.from(draw.integers(entries * rowBytes, 0, 255));
  const scales = draw.floats(entries, 1);
  const ids = Int32Array.from(draw.integers(tokens, 0, entries - 1));
  const out = unwritten(tokens * width);
  const results = async () => {
    const values = await scalarKernel(
      {
        ...operator,
        constants: (sketch) => [
          sketch.constant(tensor("uint8", [entries, rowBytes], table)),
          undefined,
          sketch.floats([entries, 1], scales),
        ],
      },
      [undefined, { shape: [tokens], data: ids }],
    );
    return new Map([[out, { values }]]);
  };
  return { operands: [table, scales, ids, tokens, width, out], results };
}

const entries = fc.constantFrom(1, 2, 7, 30);

export const lookupInt8: KernelCase<Shape> = {
  shapes: fc.record({ tokens: someRows, entries, width: widths }),
  call: (shape, draw) => callOf(shape, 8, draw),
  passes: ({ tokens, hidden }) =>
    inBlocks(tokens, 1, (rows) => ({ tokens: rows, entries: BENCH_ENTRIES, width: hidden })),
  unit: "number",
  work: ({ tokens, width }) => tokens * width,
};

export const lookupInt4: KernelCase<Shape> = {
  shapes: fc.record({ tokens: someRows, entries, width: fc.constantFrom(32, 64, 96, 160, 384) }),
  call: (shape, draw) => callOf(shape, 4, draw),
  passes: ({ tokens, hidden }) =>
    elsewhere(tokens, (rows) => ({ tokens: rows, entries: BENCH_ENTRIES, width: hidden })),
  unit: "number",
  work: ({ tokens, width }) => tokens * width,
};
