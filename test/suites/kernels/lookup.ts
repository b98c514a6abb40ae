import fc from "fast-check";
import { MICROSOFT } from "#sdk/compile/graph/node.ts";
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
  /** Block size. Each table row has one scale per `block` numbers. */
  readonly block: number;
}

/** Number of table rows in benchmarks. A table of this size does not fit into the L1 and L2 caches. */
const BENCH_ENTRIES = 8192;

/** Makes the operands of a lookup in a table of 8-bit or 4-bit numbers. */
function operandsOf({ tokens, entries, width, block }: Shape, bits: 8 | 4, draw: Drawing) {
  const table = Uint8Array.from(draw.integers((entries * width * bits) / 8, 0, 255));
  const scales = draw.floats(entries, width / block);
  const ids = Int32Array.from(draw.integers(tokens, 0, entries - 1));
  const out = unwritten(tokens * width);
  const results = async () => {
    const values = await scalarKernel(
      {
        opType: "GatherBlockQuantized",
        domain: MICROSOFT,
        settings: { bits, block_size: block },
        constants: (sketch) => [
          sketch.constant(tensor("uint8", [entries, (width * bits) / 8], table)),
          undefined,
          sketch.floats([entries, width / block], scales),
        ],
      },
      [undefined, { shape: [tokens], data: ids }],
    );
    return new Map([[out, { values }]]);
  };
  return { table, scales, ids, out, results };
}

const entries = fc.constantFrom(1, 2, 7, 30);

export const lookupInt8: KernelCase<Shape> = {
  shapes: fc
    .record({ tokens: someRows, entries, width: widths })
    .map(({ width, ...others }) => ({ ...others, width, block: width })),
  call(shape, draw) {
    const { table, scales, ids, out, results } = operandsOf(shape, 8, draw);
    return { operands: [table, scales, ids, shape.tokens, shape.width, out], results };
  },
  passes: ({ tokens, hidden }) =>
    inBlocks(tokens, 1, (rows) => ({ tokens: rows, entries: BENCH_ENTRIES, width: hidden, block: hidden })),
  unit: "number",
  work: ({ tokens, width }) => tokens * width,
};

export const lookupInt4: KernelCase<Shape> = {
  shapes: fc
    .record({ tokens: someRows, entries, block: fc.constantFrom(4, 8, 12, 32), blocks: fc.constantFrom(1, 2, 3, 5) })
    .map(({ block, blocks, ...others }) => ({ ...others, width: block * blocks, block })),
  call(shape, draw) {
    const { table, scales, ids, out, results } = operandsOf(shape, 4, draw);
    return { operands: [table, scales, ids, shape.tokens, shape.width, shape.block, out], results };
  },
  passes: ({ tokens, hidden }) =>
    elsewhere(tokens, (rows) => ({ tokens: rows, entries: BENCH_ENTRIES, width: hidden, block: 32 })),
  unit: "number",
  work: ({ tokens, width }) => tokens * width,
};
