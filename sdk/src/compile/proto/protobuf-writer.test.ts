import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { readFields } from "#test/oracles/protobuf-reader.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** Field numbers that protobuf allows: https://protobuf.dev/programming-guides/proto3/#assigning */
const fieldNumber = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2 ** 29 - 1 }));
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 1n, -1n, 127n, 128n, 16_383n, 16_384n, 2n ** 63n - 1n, -(2n ** 63n)),
);

type Entry = { field: number; value: bigint | number | string | Uint8Array | Entry[] };
const { message } = fc.letrec<{ message: Entry[]; entry: Entry }>((tie) => ({
  message: fc.array(tie("entry"), { maxLength: 4 }),
  entry: fc.record({
    field: fieldNumber,
    value: fc.oneof(
      { maxDepth: 4 },
      int64,
      fc.float({ noNaN: true }),
      fc.string({ unit: "grapheme" }),
      fc.uint8Array({ maxLength: 300 }),
      tie("message"),
    ),
  }),
}));

function write(writer: ProtobufWriter, entries: readonly Entry[]): ProtobufWriter {
  for (const { field, value } of entries) {
    if (typeof value === "bigint") writer.integer(field, value);
    else if (typeof value === "number") writer.float(field, value);
    else if (typeof value === "string") writer.string(field, value);
    else if (Array.isArray(value)) writer.message(field, (inner) => write(inner, value));
    else writer.bytes(field, new Uint8Array(value));
  }
  return writer;
}

function expectToRead(bytes: Uint8Array<ArrayBuffer>, entries: readonly Entry[]): void {
  const fields = readFields(bytes);
  expect(fields.map(({ field }) => field)).toEqual(entries.map(({ field }) => field));
  entries.forEach(({ value }, i) => {
    const read = fields[i]?.value;
    if (typeof value === "bigint") expect(BigInt.asIntN(64, read as bigint)).toBe(value);
    else if (typeof value === "number") expect(read).toBe(value);
    else if (typeof value === "string") expect(new TextDecoder().decode(read as Uint8Array)).toBe(value);
    else if (Array.isArray(value)) expectToRead(read as Uint8Array<ArrayBuffer>, value);
    else expect(Buffer.compare(read as Uint8Array, value)).toBe(0);
  });
}

describe("ProtobufWriter", () => {
  it("writes the example of the protobuf documentation", () => {
    expect([...new ProtobufWriter().integer(1, 150).finish()]).toEqual([0x08, 0x96, 0x01]);
    expect([...new ProtobufWriter().string(2, "testing").finish()]).toEqual([0x12, 0x07, ...Buffer.from("testing")]);
    expect([...new ProtobufWriter().message(3, (inner) => inner.integer(1, 150)).finish()]).toEqual([
      0x1a, 0x03, 0x08, 0x96, 0x01,
    ]);
    expect([...new ProtobufWriter().integer(1, -2).finish()]).toEqual([0x08, 0xfe, ...Array(8).fill(0xff), 0x01]);
  });

  it("writes every 64-bit integer so that an independent reader reads it", () => {
    fc.assert(
      fc.property(fieldNumber, int64, (field, value) => {
        const fields = readFields(new ProtobufWriter().integer(field, value).finish());
        expect(fields).toEqual([{ field, value: BigInt.asUintN(64, value) }]);
      }),
      seeded(500),
    );
  });

  it("writes every tree of messages so that an independent reader reads it", () => {
    fc.assert(
      fc.property(message, (entries) => expectToRead(write(new ProtobufWriter(), entries).finish(), entries)),
      seeded(300),
    );
  });
});
