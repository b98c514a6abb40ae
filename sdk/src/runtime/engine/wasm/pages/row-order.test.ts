import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { rowOrder } from "./row-order.ts";

it("puts frequent tokens first, and gives each token a row of its own", () => {
  const vocabulary = 40;
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(vocabulary - 1)), (frequent) => {
      const rowOf = rowOrder(Int32Array.from(frequent));
      const others = Array.from({ length: vocabulary }, (_, id) => id).filter((id) => !frequent.includes(id));
      expect([...frequent, ...others].map(rowOf)).toEqual(Array.from({ length: vocabulary }, (_, row) => row));
    }),
    seeded(200),
  );
});
