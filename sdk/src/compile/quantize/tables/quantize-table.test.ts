import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import { quantizeTable, type TablePrecision } from "./quantize-table.ts";

/** Half of a step, and the last bit of the float64 in which the test divides. */
const HALF_A_STEP = 0.5 * (1 + 1e-12);

/** Numbers of very different size, so that neighbouring blocks differ. */
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

/** Number by number, step · (value − middle) as [value − middle, step]. */
function levels(source: Float32Array, { bits, block }: TablePrecision) {
  const { values, scales: steps } = quantizeTable(tensor("float32", [1, source.length], source), { bits, block });
  const all = toFloat32(steps);
  return Array.from(source, (_, i) => {
    const byte = values.data[Math.floor((i * bits) / 8)] as number;
    const value = bits === 8 ? byte : (byte >> (i % 2 ? 4 : 0)) & 15;
    return [value - 2 ** (bits - 1), all[Math.floor(i / block)] as number] as const;
  });
}

const squaredError = (source: Float32Array, found: readonly (readonly [number, number])[]) =>
  found.reduce((sum, [level, step], i) => sum + ((source[i] as number) - step * level) ** 2, 0);

describe("quantizeTable", () => {
  it.each([1, 4, 16])(
    "is off by half a step of 8 bits, or by one at the end that has a value less, with blocks of %d",
    (block) => {
      fc.assert(
        fc.property(table(block), (source) => {
          const { values, scales: steps } = quantizeTable(source, { bits: 8, block });
          expect(values).toMatchObject({ dtype: "uint8", shape: source.shape });
          expect(steps).toMatchObject({ dtype: "float32", shape: [source.shape[0], (source.shape[1] ?? 0) / block] });
          const numbers = toFloat32(source);
          levels(numbers, { bits: 8, block }).forEach(([level, step], i) => {
            expect(Number.isFinite(step) && step !== 0).toBe(true);
            const error = Math.abs((numbers[i] as number) / step - level);
            expect(error).toBeLessThanOrEqual(level === 127 ? 1 + 2 ** -16 : HALF_A_STEP + 2 ** -16);
          });
        }),
        seeded(200),
      );
    },
  );

  it("never errs more in 4 bits than with the step that just reaches the largest number", () => {
    fc.assert(
      fc.property(fc.array(fc.float({ noNaN: true, min: -9, max: 9 }), { minLength: 16, maxLength: 16 }), (values) => {
        const source = Float32Array.from(values);
        const peak = source.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
        const step = Math.fround(peak / -8) || 1;
        const reaching = Array.from(
          source,
          (value) => [Math.min(Math.max(Math.round(value / step), -8), 7), step] as const,
        );
        const found = squaredError(source, levels(source, { bits: 4, block: 16 }));
        expect(found).toBeLessThanOrEqual(squaredError(source, reaching) * (1 + 1e-12));
      }),
      seeded(300),
    );
  });

  it("clips a number that stands out in 4 bits, where that puts all others on a level", () => {
    // Beside the largest, two and a half steps; three with a step of ⅚.
    const source = Float32Array.from({ length: 32 }, (_, i) => (i === 0 ? 8 : 2.5 * (-1) ** i));
    const reaching = Array.from(source, (value) => [Math.round(-value), -1] as const);
    const found = levels(source, { bits: 4, block: 32 });
    expect(Math.abs(found[0]?.[1] ?? 1)).toBeLessThan(0.9);
    expect(squaredError(source, found)).toBeLessThan(squaredError(source, reaching) / 2);
  });

  it("puts zero at 128, the largest number of a block at 0, and the same with the other sign at 255", () => {
    const numbers = Float32Array.of(0, 1, -3, 0, 0, 0, 0, 5, -2, 2, 2, -2);
    const { values, scales: steps } = quantizeTable(tensor("float32", [3, 4], numbers), { bits: 8, block: 2 });
    expect([...values.data]).toEqual([128, 0, 0, 128, 128, 128, 128, 0, 0, 255, 0, 255]);
    expect([...toFloat32(steps)].map(Math.sign)).toEqual([-1, 1, 1, -1, 1, -1]);
  });

  it("rounds by the step that is stored, which float32 has rounded", () => {
    for (let peak = 1; peak <= 20; peak++) {
      const [, half] = levels(Float32Array.of(peak, peak / 256), { bits: 8, block: 2 });
      expect(half?.[0], `peak ${peak}`).toBe(Math.round(peak / 256 / (half?.[1] as number)) + 0);
    }
  });
});
