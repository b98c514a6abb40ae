import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { LARGE_BYTES } from "../files/stored-file.ts";
import {
  byteLength,
  elementCount,
  float32Scalar,
  int64s,
  lazyTensor,
  reading,
  reshaped,
  type Tensor,
  tensor,
  tensorFromNumbers,
  toFloat32,
} from "./tensor.ts";

const uint16 = fc.nat(0xffff);

/** Decodes a 16-bit floating-point number as IEEE 754 defines it. `mantissa` is the number of fraction bits. */
function decode16(bits: number, mantissa: number): number {
  const exponentBits = 15 - mantissa;
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> mantissa) & (2 ** exponentBits - 1);
  const fraction = (bits & (2 ** mantissa - 1)) / 2 ** mantissa;
  if (exponent === 2 ** exponentBits - 1) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent ? sign * (1 + fraction) * 2 ** (exponent - bias) : sign * fraction * 2 ** (1 - bias);
}

describe("tensor", () => {
  it("is a view of its values", () => {
    const values = Float32Array.of(1, 2, 3, 4, 5, 6);
    const { data } = tensor("float32", [2, 2], values.subarray(1, 5));
    expect(data.buffer).toBe(values.buffer);
    expect(data.byteOffset).toBe(4);
    expect(data.length).toBe(16);
  });

  it("refuses a shape that does not fit the bytes", () => {
    expect(() => tensor("float32", [2, 2], Float32Array.of(1, 2, 3))).toThrow(
      expect.objectContaining({
        code: "tensor_shape",
        message: "A tensor float32[2,2] needs 16 bytes, but its data has 12.",
      }),
    );
    expect(() => tensor("float16", [2], Float32Array.of(1, 2))).toThrow(/float16\[2\] needs 4 bytes/);
  });

  it("counts one element in a scalar and none if a dimension is 0", () => {
    expect(elementCount([])).toBe(1);
    expect(elementCount([3, 0, 5])).toBe(0);
    expect(float32Scalar(0.5)).toMatchObject({ dtype: "float32", shape: [], data: Uint8Array.of(0, 0, 0, 0x3f) });
  });

  it("writes negative 64-bit integers in two's complement", () => {
    expect([...int64s(-2, 1).data]).toEqual([0xfe, ...Array(7).fill(0xff), 1, ...Array(7).fill(0)]);
  });
});

describe("lazyTensor", () => {
  const counted = (length: number) => {
    let reads = 0;
    const value = lazyTensor("uint8", [length], () => new Uint8Array(length).fill(++reads));
    return { value, reads: () => reads };
  };

  it("computes a large tensor at each access and a small one once", () => {
    const [large, small] = [counted(LARGE_BYTES), counted(LARGE_BYTES - 1)];
    expect([large.reads(), small.reads()]).toEqual([0, 1]);
    expect([large, small].map(({ value }) => [value.data[0], value.data[0]])).toEqual([
      [1, 2],
      [1, 1],
    ]);
  });

  it("has a length, and can be reshaped, without being computed", () => {
    const { value, reads } = counted(LARGE_BYTES);
    const halves = reshaped(value, [2, LARGE_BYTES / 2]);
    expect([byteLength(value), byteLength(halves), reads()]).toEqual([LARGE_BYTES, LARGE_BYTES, 0]);
    expect(halves).toMatchObject({ dtype: "uint8", shape: [2, LARGE_BYTES / 2] });
    expect(halves.data).toEqual(new Uint8Array(LARGE_BYTES).fill(1));
  });
});

describe("reading", () => {
  it("frees the bytes of a lazy tensor, even if `use` throws, and keeps those of other tensors", () => {
    const shared = tensor("uint8", [LARGE_BYTES], new Uint8Array(LARGE_BYTES).fill(7));
    const own = lazyTensor("uint8", [LARGE_BYTES], () => shared.data.slice());
    for (const [value, left] of [
      [shared, LARGE_BYTES],
      [own, 0],
      [reshaped(shared, [2, LARGE_BYTES / 2]), LARGE_BYTES],
      [reshaped(own, [2, LARGE_BYTES / 2]), 0],
    ] as const) {
      const seen: Uint8Array[] = [];
      const use = ({ data }: Tensor) => seen.push(data) && data[1];
      expect(reading(value, use)).toBe(7);
      const failing = (read: Tensor) => use(read) && expect.fail("used");
      expect(() => reading(value, failing)).toThrow("used");
      expect(seen.map(({ length }) => length)).toEqual([left, left]);
    }
  });
});

describe("toFloat32", () => {
  it("reads every float16 and bfloat16 as IEEE 754 defines", () => {
    fc.assert(
      fc.property(fc.array(uint16, { minLength: 1, maxLength: 20 }), (patterns) => {
        const data = new Uint8Array(Uint16Array.from(patterns).buffer);
        const read = (dtype: "float16" | "bfloat16") => [...toFloat32({ dtype, shape: [patterns.length], data })];
        expect(read("float16")).toEqual(patterns.map((bits) => decode16(bits, 10)));
        expect(read("bfloat16")).toEqual(patterns.map((bits) => decode16(bits, 7)));
      }),
      seeded(500),
    );
  });

  it("reads back what was written as bfloat16, without the low bits", () => {
    const numbers = [1, -2.5, 3e38, 1 + 2 ** -7, 1 + 2 ** -8];
    expect([...toFloat32(tensorFromNumbers("bfloat16", [5], numbers))]).toEqual([
      1,
      -2.5,
      decode16(0x7f61, 7),
      1 + 2 ** -7,
      1,
    ]);
  });

  it.each([0, 1, 2, 3])(
    "reads numbers that begin %d bytes into a file, from a Buffer and from a Uint8Array",
    (offset) => {
      const values = Float32Array.of(1.5, -2, 3e38);
      const file = new Uint8Array(16);
      file.set(new Uint8Array(values.buffer), offset);
      for (const bytes of [file, Buffer.from(file.buffer)]) {
        const data = bytes.subarray(offset, offset + 12);
        expect(toFloat32({ dtype: "float32", shape: [3], data })).toEqual(values);
      }
    },
  );

  it("does not copy aligned float32 data", () => {
    const values = Float32Array.of(1, 2);
    expect(toFloat32(tensor("float32", [2], values)).buffer).toBe(values.buffer);
  });

  it("refuses types other than floats", () => {
    expect(() => toFloat32(int64s(1))).toThrow(
      expect.objectContaining({ code: "tensor_dtype", hint: expect.stringContaining("float32, float16 or bfloat16") }),
    );
  });
});
