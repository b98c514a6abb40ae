import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { packBits } from "./quantize-table.ts";

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
