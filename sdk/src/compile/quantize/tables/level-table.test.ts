import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { matrix, scalarKernel } from "#test/suites/kernels/scalar-kernel.ts";
import { tableLevels } from "../../../runtime/engine/wasm/constants/table-levels.ts";
import { Graph } from "../../graph/graph.ts";
import { EDGE } from "../../graph/operators.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { EmbeddingTable } from "../quantize-graph.ts";
import { MIN_SCALE } from "../scales.ts";
import { levelLookup, quantizeLevels } from "./level-table.ts";

const BLOCK = 16;
const MAX_FLOAT = 3.4028234663852886e38;
/** Rounding errors of float32: of the scale, of its product with the multiplier, and of the number. */
const FLOAT32_ROUNDING = 2 ** -22;

const table = (rows: readonly (readonly number[])[]): Tensor =>
  tensor("float32", [rows.length, rows[0]?.length ?? 0], Float32Array.from(rows.flat()));

/** Dequantizes all rows with the reference kernel. */
async function restored(source: Tensor): Promise<Float32Array> {
  const { rows, scales } = quantizeLevels(source);
  const [count = 0, width = 0] = source.shape;
  expect(rows).toMatchObject({ dtype: "uint8", shape: [count, width / 2 + width / 32] });
  expect(scales).toMatchObject({ dtype: "float32", shape: [count] });
  const ids = matrix(
    Float32Array.from({ length: count }, (_, i) => i),
    count,
  );
  const operator = { opType: "LookupLevels", domain: EDGE, settings: { width } };
  const constants = (sketch: Parameters<NonNullable<Parameters<typeof scalarKernel>[0]["constants"]>>[0]) => [
    sketch.constant(rows),
    undefined,
    sketch.constant(scales),
  ];
  return scalarKernel({ ...operator, constants }, [undefined, ids]);
}

/** Numbers that all magnitudes occur in: rows of tiny and of huge numbers, rows of zeros, and outliers. */
const row = (width: number) =>
  fc
    .record({
      exponent: fc.oneof(fc.integer({ min: -8, max: 8 }), fc.integer({ min: -149, max: 125 })),
      shares: fc.array(
        fc.oneof(
          { weight: 9, arbitrary: fc.float({ min: -1, max: 1, noNaN: true }) },
          { weight: 1, arbitrary: fc.constantFrom(0, -0, 1, -4) },
        ),
        { minLength: width, maxLength: width },
      ),
      blocks: fc.array(fc.constantFrom(0, 1, 1, 2 ** -4, 2 ** -20), {
        minLength: width / BLOCK,
        maxLength: width / BLOCK,
      }),
    })
    .map(({ exponent, shares, blocks }) =>
      shares.map((share, i) => Math.fround(share * 2 ** exponent * (blocks[Math.floor(i / BLOCK)] as number))),
    );

describe("quantizeLevels", () => {
  it.each([32, 384])(
    "has no larger error than the multiplier that reaches the peak, at a width of %i",
    async (width) => {
      await fc.assert(
        fc.asyncProperty(fc.array(row(width), { minLength: 1, maxLength: 2 }), async (rows) => {
          const source = table(rows);
          const found = await restored(source);
          const { scales } = quantizeLevels(source);
          const numbers = toFloat32(source);
          for (let block = 0; block < numbers.length / BLOCK; block++) {
            const scale = toFloat32(scales)[Math.floor((block * BLOCK) / width)] as number;
            const part = numbers.subarray(block * BLOCK, (block + 1) * BLOCK);
            const peak = part.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
            // The smallest multiplier that reaches the peak: it clips nothing.
            const reaching = Math.max(Math.ceil(peak / (127 * scale) - 1e-6), 1);
            expect(reaching).toBeLessThanOrEqual(15);
            const errorOf = (restoredNumber: (number: number, i: number) => number) =>
              part.reduce((sum, number, i) => sum + ((restoredNumber(number, i) - number) / (127 * scale)) ** 2, 0);
            const wanted = errorOf((number) => {
              const nearest = tableLevels
                .flatMap((level) => [level, -level])
                .map((level) => level * reaching * scale)
                .sort((a, b) => Math.abs(a - number) - Math.abs(b - number));
              return nearest[0] as number;
            });
            const error = errorOf((_, i) => found[block * BLOCK + i] as number);
            expect(error).toBeLessThanOrEqual(wanted + BLOCK * (15 * FLOAT32_ROUNDING) * (1 + wanted));
          }
        }),
        seeded(width === 32 ? 200 : 30),
      );
    },
  );

  it("restores numbers that are levels times a multiplier and a scale exactly", async () => {
    const signed = tableLevels.flatMap((level) => [level, -level]);
    const exact = fc.record({
      scale: fc.integer({ min: -60, max: 60 }).map((exponent) => 2 ** exponent),
      multipliers: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 3, maxLength: 3 }),
      offset: fc.nat(15),
    });
    await fc.assert(
      fc.asyncProperty(exact, async ({ scale, multipliers, offset }) => {
        // All levels are in each block, so no other multiplier fits. The last block has the row's peak.
        const rows = [...multipliers, 15].map((multiplier) =>
          signed.map((_, i) => (signed[(i + offset) % 16] as number) * multiplier * scale),
        );
        const source = table([rows.flat()]);
        expect(await restored(source)).toEqual(toFloat32(source));
      }),
      seeded(100),
    );
  });

  it("restores rows of zeros as numbers that are next to nothing", async () => {
    const found = await restored(table([new Array<number>(32).fill(0), new Array<number>(32).fill(-0)]));
    expect(Math.max(...found.map(Math.abs))).toBeLessThanOrEqual(6 * MIN_SCALE);
  });

  it("keeps the signs of numbers that are not small for their block", async () => {
    const source = table([Array.from({ length: 64 }, (_, i) => (i % 2 ? 1 : -1) * (1 + i / 64))]);
    const found = await restored(source);
    expect(found.map(Math.sign)).toEqual(toFloat32(source).map(Math.sign));
  });

  it.each([2 ** -149, 2 ** -126, 1e-30, 1e30, 3e38, MAX_FLOAT])("restores finite numbers near %d", async (peak) => {
    const source = table([Array.from({ length: 32 }, (_, i) => (i % 3 === 0 ? peak : -peak))]);
    const found = await restored(source);
    expect(found.every(Number.isFinite)).toBe(true);
    const numbers = toFloat32(source);
    found.forEach((number, i) => {
      expect(Math.abs(number - (numbers[i] as number))).toBeLessThanOrEqual(Math.max(2 ** -20 * peak, 7 * MIN_SCALE));
    });
  });

  it("stores NaN in the scale, so that the engine refuses the table", () => {
    const { scales } = quantizeLevels(table([[Number.NaN, ...new Array<number>(31).fill(1)]]));
    expect(toFloat32(scales)[0]).toBeNaN();
  });
});

describe("levelLookup", () => {
  it.each([
    [16, false],
    [32, true],
    [48, false],
    [64, true],
  ])("looks up tables whose width is a multiple of 32: %i", (width, isPossible) => {
    const graph = new Graph("lookup");
    const words = graph.constant("words", tensor("float32", [3, width], new Float32Array(3 * width))) as EmbeddingTable;
    const value = levelLookup(graph, "lookup", words, graph.input("ids"));
    expect(value !== undefined).toBe(isPossible);
    expect([...graph.nodes].map((node) => [node.opType, node.int("width")])).toEqual(
      isPossible ? [["LookupLevels", width]] : [],
    );
  });
});
