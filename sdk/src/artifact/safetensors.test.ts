import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { withHeader } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { BertEdgeError } from "./error.ts";
import {
  type Dtype,
  dtypeBytes,
  headerEnd,
  readSafetensors,
  type TensorToWrite,
  writeSafetensors,
} from "./safetensors.ts";

const refuse = (fault: string, cause?: unknown) => new BertEdgeError("safetensors_invalid", fault, { cause });
const read = (file: Uint8Array) => readSafetensors(file, refuse);
const outcomeOf = (file: Uint8Array) => refusal(() => read(file));

const tensorToWrite = fc
  .record({
    dtype: fc.constantFrom(...(Object.keys(dtypeBytes) as Dtype[])),
    shape: fc.array(fc.nat(4), { maxLength: 3 }),
  })
  .chain(({ dtype, shape }) => {
    const length = shape.reduce((product, size) => product * size, dtypeBytes[dtype]);
    return fc
      .uint8Array({ minLength: length, maxLength: length })
      .map((data): TensorToWrite => ({ dtype, shape, data }));
  });
const tensorName = fc
  .oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom("__proto__", "constructor", "toString", "0"))
  .filter((name) => name !== "__metadata__");
const tensorsToWrite = fc.uniqueArray(fc.tuple(tensorName, tensorToWrite), {
  maxLength: 5,
  selector: ([name]) => name,
});

const example = writeSafetensors(
  [
    ["encoder.weight", { dtype: "F32", shape: [2, 3], data: new Uint8Array(24).fill(1) }],
    ["encoder.bias", { dtype: "F16", shape: [3], data: new Uint8Array(6).fill(2) }],
    ["scale", { dtype: "BF16", shape: [], data: new Uint8Array(2).fill(3) }],
  ],
  { metadata: { format: "pt" } },
);

describe("a safetensors file", () => {
  it("returns the tensors and the metadata that were written", () => {
    const texts = fc.dictionary(fc.string(), fc.string({ unit: "grapheme" }));
    fc.assert(
      fc.property(tensorsToWrite, texts, fc.constantFrom(8, 64), (tensors, metadata, alignment) => {
        const file = writeSafetensors(tensors, { metadata, alignment });
        const header = read(file);
        const found = Array.from(header.tensors, ([name, { dtype, shape, begin, end }]) => [
          name,
          { dtype, shape, data: file.slice(begin, end) },
        ]);
        expect(new Map(found as typeof tensors)).toEqual(new Map(tensors));
        expect([...header.metadata].sort()).toEqual(Object.entries(metadata).sort());
        expect(headerEnd(file, refuse) % alignment).toBe(0);
      }),
      seeded(200),
    );
  });

  it("stores tensors in the given order, without gaps", () => {
    const offsets = Array.from(read(example).tensors, ([name, { begin, end }]) => [name, begin, end]);
    const start = headerEnd(example, refuse);
    expect(offsets).toEqual([
      ["encoder.weight", start, start + 24],
      ["encoder.bias", start + 24, start + 30],
      ["scale", start + 30, start + 32],
    ]);
    expect(example.length).toBe(start + 32);
  });

  it("can begin anywhere in a larger buffer", () => {
    const larger = new Uint8Array(example.length + 3);
    larger.set(example, 3);
    expect(read(larger.subarray(3))).toEqual(read(example));
  });

  it("can lie in memory shared between threads", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(example.length));
    shared.set(example);
    expect(read(shared)).toEqual(read(example));
  });

  it("has a header that can be read before its tensors arrive", () => {
    const end = headerEnd(example, refuse);
    const reads: number[] = [];
    const source = {
      length: example.length,
      subarray(begin: number, end: number) {
        reads.push(end);
        return example.slice(begin, end);
      },
    };
    expect(readSafetensors(source, refuse)).toEqual(read(example));
    expect(reads).toEqual([8, end]);
  });
});

describe("writeSafetensors", () => {
  it.each([
    ["named like the metadata", "__metadata__", 8],
    ["with fewer bytes than its shape needs", "a", 7],
    ["with more bytes than its shape needs", "a", 9],
  ])("refuses a tensor %s", (_, name, bytes) => {
    const write = () => writeSafetensors([[name, { dtype: "F32", shape: [2], data: new Uint8Array(bytes) }]]);
    expect(write).toThrow(RangeError);
  });
});

describe("readSafetensors", () => {
  it.each<[string, Uint8Array, string]>([
    ["an empty file", new Uint8Array(), "it is shorter than its header"],
    ["a Git LFS pointer", new TextEncoder().encode("version https://git-lfs.github.com/spec/v1"), "its header claims"],
    ["a header that claims more bytes than the file has", example.subarray(0, 40), "its header claims"],
    ["a header length of 2^64 − 1", new Uint8Array(64).fill(0xff), "its header claims 18446744073709552000 bytes"],
    ["an empty header", withHeader(""), "its header is not a JSON object"],
    ["a header that is not JSON", withHeader('{"a":'), "its header is not JSON"],
    ["a header that is not UTF-8", withHeader("{}").fill(0xff, 9), "its header is not JSON"],
    ["a header that begins with a byte order mark", withHeader("\ufeff{}"), "its header is not a JSON object"],
    ["a header that begins with a space", withHeader(" {}"), "its header is not a JSON object"],
    ["a header that is a list", withHeader("[]"), "its header is not a JSON object"],
    ["a header that is null", withHeader("null"), "its header is not a JSON object"],
    ["metadata that is a text", withHeader('{"__metadata__":"a"}'), "its metadata is not an object of texts"],
    ["metadata that is a list", withHeader('{"__metadata__":["a"]}'), "its metadata is not an object of texts"],
    ["metadata with a number", withHeader('{"__metadata__":{"a":1}}'), "its metadata is not an object of texts"],
    ["a tensor without a shape", withHeader('{"a":{"dtype":"F32","data_offsets":[0,0]}}'), "tensor a is not described"],
    ["a tensor that is null", withHeader('{"a":null}'), "tensor a is not described"],
    ["a tensor called __proto__", withHeader('{"__proto__":{"dtype":"U8"}}'), "tensor __proto__ is not described"],
    ["a type that is not known", described({ dtype: "F8_E4M3" }), "tensor a has the unknown type F8_E4M3"],
    ["a type that every object has", described({ dtype: "constructor" }), "tensor a has the unknown type constructor"],
    ["a negative size", described({ shape: [-2, -1] }), "tensor a is not described"],
    ["a fractional size", described({ shape: [0.5, 4] }), "tensor a is not described"],
    ["a shape of more elements than bytes", described({ shape: [3] }), "tensor a is F32[3] but has 8 bytes"],
    ["a shape whose product overflows", described({ shape: Array(99).fill(1e15) }), "but has 8 bytes"],
    ["three offsets", described({ data_offsets: [0, 8, 8] }), "tensor a is not described"],
    ["offsets that go backwards", described({ data_offsets: [8, 0] }), "tensor a lies outside the file"],
    ["offsets beyond the file", described({ dtype: "U8", shape: [9], data_offsets: [0, 9] }), "lies outside the file"],
    ["a gap before a tensor", described({ shape: [1], data_offsets: [4, 8] }), "there is a gap before tensor a"],
    ["bytes after the last tensor", described({ shape: [1], data_offsets: [0, 4] }), "4 bytes follow the last tensor"],
    [
      "tensors that overlap",
      withHeader(
        '{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}',
        new Uint8Array(8),
      ),
      "tensor b overlaps another",
    ],
    [
      "a tensor that is described twice",
      withHeader(
        '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}',
        new Uint8Array(8),
      ),
      "there is a gap before tensor a",
    ],
  ])("refuses %s", (_, file, message) => {
    expect(() => read(file)).toThrow(message);
    expect(outcomeOf(file)).toBe("safetensors_invalid");
  });

  it("refuses a header of more than 100 MB before reading it", () => {
    const prefix = new Uint8Array(8);
    new DataView(prefix.buffer).setBigUint64(0, 100_000_001n, true);
    const source = { length: 2 ** 40, subarray: (begin: number, end: number) => prefix.subarray(begin, end) };
    expect(() => readSafetensors(source, refuse)).toThrow("its header claims 100000001 bytes");
  });

  it("refuses a file that is cut off anywhere", () => {
    for (let end = 0; end < example.length; end++)
      expect(outcomeOf(example.subarray(0, end))).toBe("safetensors_invalid");
  });

  it("refuses any damage, or finds tensors inside the file", () => {
    const flips = fc.array(fc.tuple(fc.nat(example.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    let refused = 0;
    fc.assert(
      fc.property(flips, (changes) => {
        const file = example.slice();
        for (const [at, value] of changes) file[at] = value;
        if (outcomeOf(file) === "accepted") expectInside(file);
        else refused++;
      }),
      seeded(500),
    );
    expect(refused).toBeGreaterThan(100);
  });

  it("refuses any header, or finds tensors inside the file", () => {
    const size = fc.oneof(fc.nat(16), fc.constantFrom(-1, 0.5, 1e308, Number.MAX_SAFE_INTEGER, 2 ** 53));
    const lying = fc.record({
      dtype: fc.oneof(fc.constantFrom(...Object.keys(dtypeBytes)), fc.string()),
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
        const file = withHeader(text, body);
        const outcome = outcomeOf(file);
        expect(outcome).toMatch(/^(accepted|safetensors_invalid)$/);
        if (outcome === "accepted") expectInside(file);
      }),
      seeded(500),
    );
  });
});

function expectInside(file: Uint8Array): void {
  const start = headerEnd(file, refuse);
  for (const { dtype, shape, begin, end } of read(file).tensors.values()) {
    expect(end - begin).toBe(shape.reduce((product, size) => product * size, dtypeBytes[dtype]));
    expect(begin).toBeGreaterThanOrEqual(start);
    expect(end).toBeLessThanOrEqual(file.length);
  }
}

/** Returns a file with one tensor of 8 bytes. Its description is float32[2], with the given changes. */
function described(change: Record<string, unknown>): Uint8Array {
  const entry = { dtype: "F32", shape: [2], data_offsets: [0, 8], ...change };
  return withHeader(JSON.stringify({ a: entry }), new Uint8Array(8));
}
