import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { runs, sampled } from "#test/fixtures/sampled.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { bytesOf } from "../files/stored-file.ts";
import { decodeModel } from "../proto/decode-model.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { ProtobufWriter } from "../proto/protobuf-writer.ts";
import { encodeOnnx } from "./to-onnx.ts";

const { config, weights } = tinyBert();
const tiny = encodeOnnx(encoderGraph(config, weights));

const roundTrip = (bytes: Uint8Array<ArrayBuffer>) => encodeModel(decodeModel(bytes)).finish();
const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/** Decodes a damaged file and encodes it again. Returns "accepted", or the code of the error that refuses the file. */
function survives(bytes: Uint8Array<ArrayBuffer>): string {
  return refusal(() => roundTrip(bytes));
}

describe("decodeModel and encodeModel", () => {
  it("reproduce a file byte for byte", () => {
    expect(isSame(roundTrip(tiny), tiny)).toBe(true);
  });

  it("read weights as views of the file, and write them by reference", () => {
    const model = decodeModel(tiny);
    const largest = model.graph?.initializer.find(({ name }) => name === "token_table")?.rawData;
    expect(largest && bytesOf(largest).buffer).toBe(tiny.buffer);
    expect(encodeModel(model).chunks()).toContain(largest);
  });

  it("keep fields that have no schema", () => {
    const anyField = fc.tuple(fc.integer({ min: 100, max: 2 ** 29 - 1 }), fc.uint8Array({ maxLength: 20 }));
    fc.assert(
      fc.property(fc.array(anyField, { minLength: 1, maxLength: 4 }), (fields) => {
        const write = (writer: ProtobufWriter) => {
          for (const [field, bytes] of fields)
            writer.bytes(field, new Uint8Array(bytes)).integer(field, 7).float(field, 1);
        };
        const file = new ProtobufWriter().integer(1, 8).message(7, (graph) => {
          graph.message(1, (node) => write(node.string(4, "Relu"))).string(2, "g");
          write(graph);
        });
        write(file);
        const bytes = file.finish();
        expect(decodeModel(bytes).unknown).toHaveLength(3 * fields.length);
        expect(isSame(roundTrip(bytes), bytes)).toBe(true);
      }),
      seeded(100),
    );
  });

  it("read packed and unpacked repeated numbers", () => {
    const attribute = (write: (writer: ProtobufWriter) => void) =>
      decodeModel(
        new ProtobufWriter().message(7, (graph) => graph.message(1, (node) => node.message(5, write))).finish(),
      ).graph?.node[0]?.attribute[0]?.ints;
    const values = [1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)];
    const one = (writer: ProtobufWriter) => {
      for (const value of values) writer.integer(8, value);
    };
    const packed = (writer: ProtobufWriter) => {
      for (const value of values) writer.varint(value);
    };
    expect(attribute(one)).toEqual(values);
    expect(attribute((writer) => writer.message(8, packed))).toEqual(values);
  });

  it("refuse a truncated file, cut at every 1/64 of its length", () => {
    const outcomes = new Set<string>();
    for (let part = 1; part < 64; part++) outcomes.add(survives(tiny.slice(0, Math.floor((tiny.length * part) / 64))));
    expect([...outcomes]).toEqual(["onnx_invalid"]);
  });

  it("neither hang nor crash on random changes of bytes", () => {
    const random = randomNumbers(20_261_121);
    // Shrinks the weights, which are two thirds of the file. Changes of their bytes would not change the file's
    // structure.
    const model = decodeModel(tiny);
    for (const tensor of model.graph?.initializer ?? []) tensor.rawData = new Uint8Array(4);
    const structure = encodeModel(model).finish();
    const outcomes = new Map<string, number>();
    for (let mutation = 0; mutation < 2_000; mutation++) {
      const damaged = structure.slice();
      for (let flips = 1 + Math.floor(random() * 4); flips > 0; flips--) {
        damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
      }
      const outcome = survives(damaged);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect([...outcomes.keys()].sort()).toEqual(["accepted", "onnx_invalid"]);
  });

  it("refuse arbitrary bytes or reproduce them", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(["accepted", "onnx_invalid"]).toContain(survives(new Uint8Array(bytes)));
      }),
      seeded(runs(200, 2_000)),
    );
  });

  it("refuse messages that nest too deeply", () => {
    const nest = (writer: ProtobufWriter, depth: number): ProtobufWriter =>
      depth === 0
        ? writer
        : writer.message(1, (node) =>
            node.message(5, (attribute) => attribute.message(6, (graph) => nest(graph, depth - 1))),
          );
    const file = (depth: number) => new ProtobufWriter().message(7, (graph) => nest(graph, depth)).finish();
    expect(survives(file(10))).toBe("accepted");
    expect(survives(file(200))).toBe("onnx_invalid");
  });

  it.each([
    ["a Git LFS pointer", new TextEncoder().encode("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a")],
    ["a name that is not UTF-8", new ProtobufWriter().bytes(2, Uint8Array.of(0xff, 0xfe)).finish()],
    ["field 0", Uint8Array.of(0x00, 0x01)],
    ["a group", Uint8Array.of(0x0b, 0x0c)],
    ["a number of eleven bytes", Uint8Array.of(0x08, ...Array<number>(11).fill(0x80), 0x01)],
  ])("refuse %s", (_, bytes) => {
    expect(survives(bytes)).toBe("onnx_invalid");
  });
});

describeShared("corpus", "every model of the corpus", (folder) => {
  it("is reproduced byte for byte", () => {
    const models = (readdirSync(folder, { recursive: true }) as string[]).filter((file) => file.endsWith(".onnx"));
    const changed = sampled(models, 6).filter((file) => {
      const bytes = new Uint8Array(readFileSync(join(folder, file)));
      return !isSame(roundTrip(bytes), bytes);
    });
    expect(models.length).toBeGreaterThan(200);
    expect(changed).toEqual([]);
  });
});
