import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { tensor } from "../graph/tensor.ts";
import { tilePadded, tileWeight } from "./tile-weight.ts";

const matrix = fc
  .record({ outputs: fc.integer({ min: 1, max: 20 }), inputs: fc.integer({ min: 1, max: 20 }) })
  .chain(({ outputs, inputs }) =>
    fc
      .uint8Array({ min: 1, max: 127, minLength: outputs * inputs, maxLength: outputs * inputs })
      .map((values) => ({ outputs, inputs, values: new Uint8Array(values) })),
  );

describe("tileWeight", () => {
  it("stores weight [o, i] at [o / 8, i / 4, o mod 8, i mod 4], and zeros elsewhere", () => {
    fc.assert(
      fc.property(matrix, ({ outputs, inputs, values }) => {
        const { dtype, shape, data } = tileWeight(tensor("uint8", [outputs, inputs], values));
        const [tiles, quads] = [Math.ceil(outputs / 8), Math.ceil(inputs / 4)];
        expect({ dtype, shape }).toEqual({ dtype: "uint8", shape: [tiles, quads, 8, 4] });
        const wanted = new Uint8Array(data.length);
        values.forEach((value, at) => {
          const [o, i] = [Math.floor(at / inputs), at % inputs];
          wanted[((Math.floor(o / 8) * quads + Math.floor(i / 4)) * 8 + (o % 8)) * 4 + (i % 4)] = value;
        });
        expect(data).toEqual(wanted);
        expect(data.filter((byte) => byte !== 0)).toHaveLength(outputs * inputs);
      }),
      seeded(200),
    );
  });
});

describe("tilePadded", () => {
  it.each([Float32Array, Int32Array])("pads a %o with zeros to whole tiles", (Type) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 1, maxLength: 20 }), (numbers) => {
        const padded = tilePadded(Type.from(numbers));
        expect(padded).toBeInstanceOf(Type);
        expect(padded).toHaveLength(8 * Math.ceil(numbers.length / 8));
        expect([...padded]).toEqual([...numbers, ...new Array(padded.length - numbers.length).fill(0)]);
      }),
      seeded(50),
    );
  });
});
