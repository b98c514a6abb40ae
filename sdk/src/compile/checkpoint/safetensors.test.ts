import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { type StoredTensor, safetensorsFile, withHeader } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { elementCount, elementSize, type Tensor, toFloat32 } from "../graph/tensor.ts";
import { parseSafetensors } from "./safetensors.ts";

/** safetensors' names of the types that are read, and how many bytes an element of each takes. */
const widths = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I8: 1, U8: 1, BOOL: 1 };

const storedTensor: fc.Arbitrary<StoredTensor> = fc
  .record({
    dtype: fc.constantFrom(...(Object.keys(widths) as (keyof typeof widths)[])),
    shape: fc.array(fc.nat(4), { maxLength: 3 }),
  })
  .chain(({ dtype, shape }) => {
    const length = widths[dtype] * shape.reduce((product, n) => product * n, 1);
    return fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => ({ dtype, shape, bytes }));
  });

const example = safetensorsFile(
  {
    "encoder.weight": { dtype: "F32", shape: [2, 3], bytes: new Uint8Array(24).fill(1) },
    "encoder.bias": { dtype: "F16", shape: [3], bytes: new Uint8Array(6).fill(2) },
    scale: { dtype: "BF16", shape: [], bytes: new Uint8Array(2).fill(3) },
  },
  { format: "pt" },
);

const codeOf = (file: Uint8Array<ArrayBuffer>) => refusal(() => parseSafetensors(file, "x"));

describe("parseSafetensors", () => {
  it("reads float32, float16 and bfloat16 numbers from a file written by hand", () => {
    const header =
      '{"__metadata__":{"format":"pt"},' +
      '"full":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},' +
      '"half":{"dtype":"F16","shape":[1,3],"data_offsets":[8,14]},' +
      '"brain":{"dtype":"BF16","shape":[3,1],"data_offsets":[14,20]}}  ';
    // Little-endian. 1.5 and −2 in binary32; 1, −2 and the largest, 65504, in binary16; 1, −2 and 2^127 in bfloat16.
    const full = [0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc0];
    const half = [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b];
    const brain = [0x80, 0x3f, 0x00, 0xc0, 0x00, 0x7f];
    const tensors = parseSafetensors(withHeader(header, Uint8Array.of(...full, ...half, ...brain)), "x");
    const read = [...tensors].map(([name, tensor]) => [name, tensor.shape, [...toFloat32(tensor)]]);
    expect(read).toEqual([
      ["full", [2], [1.5, -2]],
      ["half", [1, 3], [1, -2, 65504]],
      ["brain", [3, 1], [1, -2, 2 ** 127]],
    ]);
  });

  it("reads back any tensors that were written, without copying them", () => {
    const names = fc.string({ unit: "grapheme", maxLength: 8 }).filter((name) => name !== "__metadata__");
    fc.assert(
      fc.property(fc.dictionary(names, storedTensor, { maxKeys: 5, noNullPrototype: true }), (stored) => {
        const file = safetensorsFile(stored);
        const tensors = parseSafetensors(file, "x");
        expect([...tensors.keys()]).toEqual(Object.keys(stored));
        for (const [name, { dtype, shape, bytes }] of Object.entries(stored)) {
          const { data, ...read } = tensors.get(name) as Tensor;
          expect(read.shape).toEqual(shape);
          expect(elementSize[read.dtype]).toBe(widths[dtype as keyof typeof widths]);
          expect(Buffer.compare(data, bytes)).toBe(0);
          expect(data.buffer).toBe(file.buffer);
        }
      }),
      seeded(200),
    );
  });

  it("reads a file that begins anywhere in a larger buffer", () => {
    const larger = new Uint8Array(example.length + 3);
    larger.set(example, 3);
    const { data } = parseSafetensors(larger.subarray(3), "x").get("encoder.bias") as Tensor;
    expect([...data]).toEqual([2, 2, 2, 2, 2, 2]);
  });

  it.each<[string, Uint8Array<ArrayBuffer>, string]>([
    ["an empty file", new Uint8Array(), "it is shorter than its header"],
    ["a Git LFS pointer", new TextEncoder().encode("version https://git-lfs.github.com/spec/v1"), "its header claims"],
    ["a header that claims more bytes than the file has", example.subarray(0, 40), "its header claims"],
    ["a header length of 2^64 − 1", new Uint8Array(64).fill(0xff), "its header claims 18446744073709552000 bytes"],
    ["a header that is not JSON", withHeader('{"a":'), "its header is not JSON"],
    ["a header that is not UTF-8", withHeader("{}").fill(0xff, 8), "its header is not JSON"],
    ["a header that is a list", withHeader("[]"), "its header is no object"],
    ["a header that is null", withHeader("null"), "its header is no object"],
    ["a tensor without a shape", withHeader('{"a":{"dtype":"F32","data_offsets":[0,0]}}'), "tensor a is not described"],
    ["a tensor that is null", withHeader('{"a":null}'), "tensor a is not described"],
    ["a type that is not known", described({ dtype: "F8_E4M3" }), "tensor a has the unknown type F8_E4M3"],
    ["a type that every object has", described({ dtype: "constructor" }), "tensor a has the unknown type constructor"],
    ["a negative size", described({ shape: [-2, -1] }), "tensor a is not described"],
    ["a fractional size", described({ shape: [0.5, 4] }), "tensor a is not described"],
    ["a shape of more elements than bytes", described({ shape: [3] }), "tensor a is float32[3] but has 8 bytes"],
    ["a shape whose product overflows", described({ shape: Array(99).fill(1e15) }), "but has 8 bytes"],
    ["offsets that go backwards", described({ data_offsets: [8, 0] }), "tensor a lies outside the file"],
    [
      "offsets beyond the file",
      described({ dtype: "U8", shape: [9], data_offsets: [0, 9] }),
      "tensor a lies outside the file",
    ],
    ["bytes that no tensor has", described({ shape: [1], data_offsets: [4, 8] }), "there is a gap before tensor a"],
    ["bytes after the last tensor", described({ shape: [1], data_offsets: [0, 4] }), "4 bytes follow the last tensor"],
    [
      "tensors that overlap",
      withHeader(
        '{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}',
        new Uint8Array(8),
      ),
      "tensor b overlaps another",
    ],
  ])("refuses %s", (_, file, message) => {
    expect(() => parseSafetensors(file, "model.safetensors")).toThrow(
      expect.objectContaining({
        code: "safetensors_invalid",
        message: expect.stringMatching(/^model\.safetensors is not a valid safetensors file: /),
        hint: expect.stringContaining("Git LFS"),
      }),
    );
    expect(() => parseSafetensors(file, "model.safetensors")).toThrow(message);
  });

  it("refuses a file that is cut off anywhere", () => {
    for (let part = 0; part < 64; part++) {
      const end = Math.floor((example.length * part) / 64);
      expect(codeOf(example.slice(0, end)), `${end} of ${example.length} bytes`).toBe("safetensors_invalid");
    }
  });

  it("answers any damage with sound tensors or with safetensors_invalid", () => {
    const flips = fc.array(fc.tuple(fc.nat(example.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    let refused = 0;
    fc.assert(
      fc.property(flips, (changes) => {
        const file = example.slice();
        for (const [at, value] of changes) file[at] = value;
        if (codeOf(file) !== "accepted") {
          refused++;
          expect(codeOf(file)).toBe("safetensors_invalid");
          return;
        }
        for (const { dtype, shape, data } of parseSafetensors(file, "x").values()) {
          expect(data.length).toBe(elementCount(shape) * elementSize[dtype]);
        }
      }),
      seeded(1000),
    );
    expect(refused).toBeGreaterThan(100);
  });

  it("answers any header with sound tensors or with safetensors_invalid", () => {
    const size = fc.oneof(fc.nat(16), fc.constantFrom(-1, 0.5, 1e308, Number.MAX_SAFE_INTEGER, 2 ** 53));
    const lying = fc.record({
      dtype: fc.oneof(fc.constantFrom(...Object.keys(widths)), fc.string()),
      shape: fc.array(size, { maxLength: 4 }),
      data_offsets: fc.array(size, { maxLength: 3 }),
    });
    const header = fc.oneof(
      fc.dictionary(fc.string(), fc.oneof(lying, fc.jsonValue())).map((entries) => JSON.stringify(entries)),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(header, fc.uint8Array({ maxLength: 16 }), (text, body) => {
        expect(["accepted", "safetensors_invalid"]).toContain(codeOf(withHeader(text, body)));
      }),
      seeded(1000),
    );
  });
});

/** A file of 8 bytes with one tensor, float32[2] if nothing else is said. */
function described(lie: Record<string, unknown>): Uint8Array<ArrayBuffer> {
  const entry = { dtype: "F32", shape: [2], data_offsets: [0, 8], ...lie };
  return withHeader(JSON.stringify({ a: entry }), new Uint8Array(8));
}
