import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHalfBits, toHalfBits } from "./float16.ts";

// The reference is Float16Array, which Node 24 has. Tests run on Node 24.
const allBits = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
const allHalves = new Float16Array(allBits.buffer);

const rounded = (numbers: number[]) => [...fromHalfBits(toHalfBits(numbers))];

describe("float16", () => {
  it("decodes every float16 number", () => {
    expect(fromHalfBits(allBits)).toEqual(Float32Array.from(allHalves));
  });

  it("encodes every float16 number to its own bits", () => {
    const numbers = [...allHalves].filter((x) => !Number.isNaN(x));
    const expected = [...allBits].filter((_, i) => !Number.isNaN(allHalves[i]));
    expect([...toHalfBits(numbers)]).toEqual(expected);
    expect(rounded([Number.NaN])).toEqual([Number.NaN]);
  });

  it("rounds to the nearest float16 number, and ties to even", () => {
    const between = [...allHalves].filter(Number.isFinite).flatMap((x) => {
      const next = x + 2 ** (Math.max(Math.floor(Math.log2(Math.abs(x) || 2 ** -24)), -14) - 10);
      const middle = (x + next) / 2;
      return [middle, middle * (1 + 2 ** -40), middle * (1 - 2 ** -40)];
    });
    expect(toHalfBits(between)).toEqual(new Uint16Array(Float16Array.from(between).buffer));
  });

  it("rounds any number as Float16Array does", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true })), (numbers) => {
        expect(rounded(numbers)).toEqual([...Float32Array.from(Float16Array.from(numbers))]);
      }),
    );
  });
});
