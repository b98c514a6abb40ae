import fc from "fast-check";
import { expect, it } from "vitest";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { addProduct, float64Arrays, padded } from "./add-product.ts";
import { DEPTH } from "./product-depth.ts";

it("addProduct adds each sum's products in order, and changes nothing else", () => {
  const size = fc.integer({ min: 0, max: 5 }).map((count) => 8 * count);
  fc.assert(
    fc.property(size, size, size, fc.integer(), (rows, columns, more, seed) => {
      const stride = columns + more;
      const random = randomNumbers(seed);
      const [sums, a, b] = float64Arrays((rows + 1) * stride, rows * DEPTH, DEPTH * stride);
      for (const matrix of [sums, a, b]) matrix.set(Array.from(matrix, () => 2 * random() - 1));
      const wanted = sums.slice();
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          for (let i = 0; i < DEPTH; i++) {
            const product = (a[row * DEPTH + i] as number) * (b[i * stride + column] as number);
            wanted[row * stride + column] = (wanted[row * stride + column] as number) + product;
          }
        }
      }
      addProduct(sums, a, b, { rows, columns, stride });
      expect(sums).toEqual(wanted);
    }),
    seeded(50),
  );
});

it("float64Arrays returns zeros, also in memory that was used before", () => {
  const [first] = float64Arrays(100_000);
  first.fill(1);
  const arrays = float64Arrays(3, 0, 200_000);
  expect(arrays.map(({ length }) => length)).toEqual([3, 0, 200_000]);
  expect(arrays.every((array) => array.every((value) => value === 0))).toBe(true);
});

it("padded returns the next multiple of eight", () => {
  expect([0, 1, 8, 9].map(padded)).toEqual([0, 8, 8, 16]);
});
