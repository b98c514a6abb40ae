import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeFloats } from "./base64.ts";
import { formatVector } from "./format-vector.ts";

const vector = fc.float32Array({ noNaN: true, noDefaultInfinity: true }).map((values) => Float32Array.from(values));

it("formats numbers that are read back as the same float32 numbers", () => {
  fc.assert(
    fc.property(vector, (values) => {
      const read = Float32Array.from(JSON.parse(formatVector(values, "float")) as number[]);
      expect(read.every((value, i) => value === values[i])).toBe(true);
      expect(read.length).toBe(values.length);
    }),
  );
});

it("formats base64 that is decoded to the same bytes", () => {
  fc.assert(
    fc.property(vector, (values) => {
      expect(decodeFloats(JSON.parse(formatVector(values, "base64")) as string)).toEqual(values);
    }),
  );
});
