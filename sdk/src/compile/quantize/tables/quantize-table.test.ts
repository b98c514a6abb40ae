import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import { packBits, quantizeTable, type TablePrecision } from "./quantize-table.ts";

/** Maximum rounding error divided by the scale: 0.5, plus the rounding error of this test's float64 division. */
const HALF_A_SCALE = 0.5 * (1 + 1e-12);

/** Numbers of very different magnitudes, so that neighbouring blocks get different scales. */
const number = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, min: -1, max: 1 }),
  fc.constantFrom(0, 2 ** -149, 190 * 2 ** -149, 3.4028234663852886e38),
);
const table = (block: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }))
    .chain(([rows, blocks]) =>
      fc
        .array(number, { minLength: rows * blocks * block, maxLength: rows * blocks * block })
        .map((values) => tensor("float32", [rows, blocks * block], Float32Array.from(values))),
    );

/** Returns [integer, scale] for every number. The dequantized number is integer · scale. */
function dequantized(source: Float32Array, { bits, block }: TablePrecision) {
  const { values, scales } = quantizeTable(tensor("float32", [1, source.length], source), { bits, block });
  const all = toFloat32(scales);
  return Array.from(source, (_, i) => {
    const byte = values.data[Math.floor((i * bits) / 8)] as number;
    const value = bits === 8 ? byte : (byte >> (i % 2 ? 4 : 0)) & 15;
    return [value - 2 ** (bits - 1), all[Math.floor(i / block)] as number] as const;
  });
}

const squaredError = (source: Float32Array, found: readonly (readonly [number, number])[]) =>
  found.reduce((sum, [integer, scale], i) => sum + ((source[i] as number) - scale * integer) ** 2, 0);

describe("quantizeTable", () => {
  it.each([1, 4, 16])(
    "has an error of at most half a scale in 8 bits, or one scale at integer 127, with blocks of %d",
    (block) => {
      fc.assert(
        fc.property(table(block), (source) => {
          const { values, scales } = quantizeTable(source, { bits: 8, block });
          expect(values).toMatchObject({ dtype: "uint8", shape: source.shape });
          expect(scales).toMatchObject({ dtype: "float32", shape: [source.shape[0], (source.shape[1] ?? 0) / block] });
          const numbers = toFloat32(source);
          dequantized(numbers, { bits: 8, block }).forEach(([integer, scale], i) => {
            expect(Number.isFinite(scale) && scale !== 0).toBe(true);
            const error = Math.abs((numbers[i] as number) / scale - integer);
            expect(error).toBeLessThanOrEqual(integer === 127 ? 1 + 2 ** -16 : HALF_A_SCALE + 2 ** -16);
          });
        }),
        seeded(200),
      );
    },
  );

  it("never has a larger error in 4 bits than the scale that maps the peak to −8", () => {
    fc.assert(
      fc.property(fc.array(fc.float({ noNaN: true, min: -9, max: 9 }), { minLength: 16, maxLength: 16 }), (values) => {
        const source = Float32Array.from(values);
        const peak = source.reduce((max, value) => (Math.abs(value) > Math.abs(max) ? value : max), 0);
        const scale = Math.fround(peak / -8) || 1;
        const unclipped = Array.from(
          source,
          (value) => [Math.min(Math.max(Math.round(value / scale), -8), 7), scale] as const,
        );
        const found = squaredError(source, dequantized(source, { bits: 4, block: 16 }));
        expect(found).toBeLessThanOrEqual(squaredError(source, unclipped) * (1 + 1e-12));
      }),
      seeded(300),
    );
  });

  it("clips an outlier in 4 bits if all other numbers become exact", () => {
    // With scale 1, the outlier 8 is exact, but the other numbers, ±2.5, are rounded. With scale 5/6, the outlier is
    // clipped, but the other numbers are exact: ±3 · 5/6.
    const source = Float32Array.from({ length: 32 }, (_, i) => (i === 0 ? 8 : 2.5 * (-1) ** i));
    const unclipped = Array.from(source, (value) => [Math.round(-value), -1] as const);
    const found = dequantized(source, { bits: 4, block: 32 });
    expect(Math.abs(found[0]?.[1] ?? 1)).toBeLessThan(0.9);
    expect(squaredError(source, found)).toBeLessThan(squaredError(source, unclipped) / 2);
  });

  it("stores zero as 128, the peak of a block as 0, and its negative as 255", () => {
    const numbers = Float32Array.of(0, 1, -3, 0, 0, 0, 0, 5, -2, 2, 2, -2);
    const { values, scales } = quantizeTable(tensor("float32", [3, 4], numbers), { bits: 8, block: 2 });
    expect([...values.data]).toEqual([128, 0, 0, 128, 128, 128, 128, 0, 0, 255, 0, 255]);
    expect([...toFloat32(scales)].map(Math.sign)).toEqual([-1, 1, 1, -1, 1, -1]);
  });

  it("rounds with the float32 scale that is stored", () => {
    for (let peak = 1; peak <= 20; peak++) {
      const [, half] = dequantized(Float32Array.of(peak, peak / 256), { bits: 8, block: 2 });
      expect(half?.[0], `peak ${peak}`).toBe(Math.round(peak / 256 / (half?.[1] as number)) + 0);
    }
  });
});

describe("packBits", () => {
  it.each([8, 4] as const)("stores every number of %d bits", (bits) => {
    const numbers = fc.array(fc.integer({ min: 0, max: 2 ** bits - 1 }), { maxLength: 20 });
    fc.assert(
      fc.property(numbers, (all) => {
        const bytes = packBits(all.length, bits, (i) => all[i] as number);
        expect(bytes).toHaveLength(Math.ceil((all.length * bits) / 8));
        const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
        const found = bits === 8 ? digits : digits.flatMap(([high = "", low = ""]) => [low, high]);
        expect(found.slice(0, all.length).map((digit) => Number.parseInt(digit, 16))).toEqual(all);
      }),
      seeded(200),
    );
  });

  it("puts the first of two numbers in the lower bits, and fills the last byte with 0", () => {
    expect([...packBits(3, 4, (i) => i + 1)]).toEqual([0x21, 0x03]);
  });
});
