import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "../../../../test/suites/seeded.ts";
import { numbersOf, tensor } from "../graph/tensor.ts";
import { transposed } from "./transposed.ts";

const size = fc.integer({ min: 1, max: 9 });

it.each(["int8", "float32"] as const)("rows of %s become columns", (dtype) => {
  fc.assert(
    fc.property(size, size, (rows, columns) => {
      const numbers = Array.from({ length: rows * columns }, (_, i) => i);
      const values = dtype === "int8" ? Int8Array.from(numbers) : Float32Array.from(numbers);
      const turned = transposed(tensor(dtype, [rows, columns], values));
      expect(turned.shape).toEqual([columns, rows]);
      expect(numbersOf(turned)).toEqual(numbers.map((_, i) => (i % rows) * columns + Math.floor(i / rows)));
    }),
    seeded(50),
  );
});
