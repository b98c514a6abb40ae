import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { numbersOf, tensor } from "./tensor.ts";
import { transposedMatrix } from "./tensor-math.ts";

const size = fc.integer({ min: 1, max: 9 });

const arrays = { int8: Int8Array, float16: Float16Array, float32: Float32Array, int64: BigInt64Array };

it.each(Object.keys(arrays) as (keyof typeof arrays)[])("transposes a matrix of %s", (dtype) => {
  fc.assert(
    fc.property(size, size, (rows, columns) => {
      const numbers = Array.from({ length: rows * columns }, (_, i) => i);
      const values = dtype === "int64" ? BigInt64Array.from(numbers, BigInt) : arrays[dtype].from(numbers);
      const turned = transposedMatrix(tensor(dtype, [rows, columns], values));
      expect(turned.shape).toEqual([columns, rows]);
      expect(numbersOf(turned)).toEqual(numbers.map((_, i) => (i % rows) * columns + Math.floor(i / rows)));
    }),
    seeded(50),
  );
});

it("accepts unaligned bytes and keeps every bit", () => {
  const quiet = [0x01, 0x00, 0xa0, 0x7f];
  const data = Uint8Array.of(9, ...quiet, 1, 2, 3, 4).subarray(1);
  expect([...transposedMatrix({ dtype: "float32", shape: [1, 2], data }).data]).toEqual([...quiet, 1, 2, 3, 4]);
});
