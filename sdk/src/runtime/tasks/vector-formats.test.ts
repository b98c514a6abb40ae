import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, rowsOf, SCORE_ROUNDING } from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { cosine } from "./sentence-vector.ts";
import { binaryVector, int8Vector, shortened, uint8Vector, vectorFormats } from "./vector-formats.ts";

const golden = pipelineCases.vectors;
const rows = rowsOf(decodedFloats(golden.rows), golden.dimensions);
const vector = fc
  .array(fc.float({ min: -4, max: 4, noNaN: true }), { minLength: 1, maxLength: 40 })
  .map((values) => Float32Array.from(values));

describe("shortened", () => {
  it.each(Object.entries(golden.shortened))("to %s dimensions is torch's normalized vector", (dimensions, expected) => {
    const wanted = decodedFloats(expected);
    const found = rows.flatMap((row) => [...shortened(row, Number(dimensions))]);
    expect(found).toHaveLength(wanted.length);
    found.forEach((value, i) => {
      expect(Math.abs(value - (wanted[i] as number))).toBeLessThan(SCORE_ROUNDING);
    });
  });

  it("does not change the vector", () => {
    const row = Float32Array.of(3, 4, 5);
    expect([...shortened(row, 2)]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
    expect([...row]).toEqual([3, 4, 5]);
  });
});

describe("int8Vector and uint8Vector", () => {
  it("use the whole range, and keep zeros", () => {
    expect([...int8Vector(Float32Array.of(0.5, -0.25, 0))]).toEqual([127, -63, 0]);
    expect([...uint8Vector(Float32Array.of(0.5, -0.5, 0))]).toEqual([255, 1, 128]);
    expect([...int8Vector(new Float32Array(3))]).toEqual([0, 0, 0]);
  });

  it("round each number by at most half a step", () => {
    fc.assert(
      fc.property(vector, (given) => {
        const largest = Math.max(...given.map(Math.abs));
        fc.pre(largest > 1e-30);
        const [signed, unsigned] = [int8Vector(given), uint8Vector(given)];
        given.forEach((value, i) => {
          const rounded = signed[i] as number;
          expect(Math.abs((value * 127) / largest - rounded)).toBeLessThanOrEqual(0.5 + Number.EPSILON * 127);
          expect(unsigned[i]).toBe(rounded + 128);
        });
      }),
      seeded(200),
    );
  });

  it("keep the direction", () => {
    for (const row of rows) expect(cosine(row, Float32Array.from(int8Vector(row)))).toBeGreaterThan(0.9999);
  });
});

describe("binaryVector", () => {
  it("has the bits of numpy.packbits", () => {
    expect(rows.map((row) => [...binaryVector(row)])).toEqual(golden.bits);
  });
});

describe("vectorFormats", () => {
  it("has signed bytes that are 128 less than the unsigned ones", () => {
    for (const row of rows) {
      const unsigned = vectorFormats.ubinary(row);
      expect([...vectorFormats.binary(row)]).toEqual([...unsigned].map((byte) => byte - 128));
    }
  });
});
