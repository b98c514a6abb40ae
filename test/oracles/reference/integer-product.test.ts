import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../../fixtures/seeded.ts";
import { ortIntegerMatMul } from "../interpreter/ort-integer-mat-mul.ts";
import { type Bytes, type IntegerProduct, integerProduct } from "./integer-product.ts";

const size = fc.constantFrom(1, 2, 3, 5, 7, 33);
const fill = (length: number, min: number, max: number) =>
  fc.oneof(
    fc.array(fc.integer({ min, max }), { minLength: length, maxLength: length }),
    fc.constantFrom(min, max).map((value) => new Array<number>(length).fill(value)),
  );
/** Draws two matrices. `a` has signed bytes. `b` has signed bytes, 7-bit numbers or unsigned bytes. */
const operands = fc
  .record({ m: size, n: size, k: size, range: fc.constantFrom([-128, 127], [0, 127], [0, 255]) })
  .chain(({ m, n, k, range: [min = 0, max = 0] }) =>
    fc.record({
      k: fc.constant(k),
      a: fill(m * k, -128, 127).map((values) => Int8Array.from(values)),
      b: fill(n * k, min, max).map((values): Bytes => (min < 0 ? Int8Array.from(values) : Uint8Array.from(values))),
    }),
  );

/** Computes a · bᵀ with BigInt. */
function exactProduct(a: Int8Array, b: Bytes, k: number): number[] {
  const row = (x: Bytes, at: number) => Array.from(x.subarray(at * k, (at + 1) * k), BigInt);
  const rows = (x: Bytes) => Array.from({ length: x.length / k }, (_, at) => row(x, at));
  const columns = rows(b);
  return rows(a).flatMap((x) =>
    columns.map((y) => Number(x.reduce((total, value, i) => total + value * (y[i] as bigint), 0n))),
  );
}

describe.each<[string, () => Promise<IntegerProduct>]>([
  ["integerProduct", async () => integerProduct],
  ["ortIntegerMatMul", ortIntegerMatMul],
])("%s", (_, make) => {
  it("is exact, also for odd sizes and for minimum and maximum numbers", async () => {
    const product = await make();
    await fc.assert(
      fc.asyncProperty(operands, async ({ a, b, k }) => {
        const found = await product(a, b, k);
        expect(found).toBeInstanceOf(Int32Array);
        expect([...found]).toEqual(exactProduct(a, b, k));
      }),
      seeded(200),
    );
  });

  it("does not overflow with 3,072 products of maximum size", async () => {
    const product = await make();
    const k = 3072;
    const [a, b] = [new Int8Array(k).fill(-128), new Uint8Array(k).fill(255)];
    expect([...(await product(a, b, k))]).toEqual([-128 * 255 * k]);
  });
});
