import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeFloats, encodeBytes, formatVector } from "./vector-text.ts";

const vector = fc.float32Array({ maxLength: 64 }).map((values) => Float32Array.from(values));
const finite = fc.float32Array({ noNaN: true, noDefaultInfinity: true }).map((values) => Float32Array.from(values));

/** Implements `toBase64` and `fromBase64`, because the runtime of this test may lack them. */
const standIns = {
  toBase64(this: Uint8Array) {
    return Buffer.from(this).toString("base64");
  },
  fromBase64(text: string) {
    const bytes = Uint8Array.from(Buffer.from(text, "base64"));
    if (Buffer.from(bytes).toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) throw new SyntaxError();
    return bytes;
  },
};

describe.each([
  ["with the runtime's own base64 methods", standIns],
  ["without the runtime's base64 methods", { toBase64: undefined, fromBase64: undefined }],
])("%s", (_, { toBase64, fromBase64 }) => {
  const before = { toBase64: Uint8Array.prototype.toBase64, fromBase64: Uint8Array.fromBase64 };
  const define = (methods: { toBase64: unknown; fromBase64: unknown }) => {
    const common = { configurable: true, writable: true };
    Object.defineProperty(Uint8Array.prototype, "toBase64", { ...common, value: methods.toBase64 });
    Object.defineProperty(Uint8Array, "fromBase64", { ...common, value: methods.fromBase64 });
  };
  beforeAll(() => define({ toBase64, fromBase64 }));
  afterAll(() => define(before));

  describe("encodeBytes", () => {
    it("writes little-endian float32, as OpenAI does", () => {
      // The little-endian float32 bytes of 1 are 00 00 80 3f, and those of -2 are 00 00 00 c0.
      expect(encodeBytes(Float32Array.of(1, -2))).toBe("AACAPwAAAMA=");
    });

    it("encodes only the part of the buffer that the vector covers", () => {
      expect(encodeBytes(Float32Array.of(9, 1, -2, 9).subarray(1, 3))).toBe("AACAPwAAAMA=");
    });

    it("encodes every float32 so that decodeFloats restores it, including infinities and NaN", () => {
      fc.assert(
        fc.property(vector, (values) => {
          expect(decodeFloats(encodeBytes(values))).toEqual(values);
        }),
      );
    });

    it("agrees with Node's base64", () => {
      fc.assert(
        fc.property(vector, (values) => {
          expect(encodeBytes(values)).toBe(Buffer.from(values.buffer).toString("base64"));
        }),
      );
    });
  });

  describe("decodeFloats", () => {
    it("accepts base64 without padding", () => {
      expect([...decodeFloats("AACAPw")]).toEqual([1]);
    });

    it.each([
      ["text that is not base64", "not base64!"],
      ["bytes that are not whole numbers", "AAAA"],
    ])("throws on %s", (_, text) => {
      expect(() => decodeFloats(text)).toThrow();
    });
  });
});

it("formats numbers that are read back as the same float32 numbers", () => {
  fc.assert(
    fc.property(finite, (values) => {
      const read = Float32Array.from(JSON.parse(formatVector(values, "float")) as number[]);
      expect(read.every((value, i) => value === values[i])).toBe(true);
      expect(read.length).toBe(values.length);
    }),
  );
});

it("formats base64 that is decoded to the same bytes", () => {
  fc.assert(
    fc.property(finite, (values) => {
      expect(decodeFloats(JSON.parse(formatVector(values, "base64")) as string)).toEqual(values);
    }),
  );
});
