import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile, withHeader } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";
import { readModelFile } from "./model-file.ts";

const program: Program = {
  version: PROGRAM_VERSION,
  values: [{ width: 4, of: "token", type: "f32" }],
  steps: [{ op: "lookup", table: "words", scales: "words.scales", bits: 8, out: 0 }],
  output: 0,
  maxTokens: 512,
  vocabulary: 3,
};
const tensors = {
  words: { dtype: "U8" as const, shape: [3, 4], data: Uint8Array.from({ length: 12 }, (_, i) => i) },
  "words.scales": float32Tensor([3], [1, 2, 3]),
};
const fileOf = (changes: Partial<Program> = {}) =>
  safetensorsFile(tensors, { program: JSON.stringify({ ...program, ...changes }) });
const sound = fileOf();
/** Offset of the first tensor. */
const start = sound.length - 24;

describe("readModelFile", () => {
  it("reads the program and the offsets of tensors", () => {
    const { program: found, tensor } = readModelFile(sound);
    expect(found).toEqual(program);
    expect([tensor("words"), tensor("words.scales")]).toEqual([start, start + 12]);
  });

  it("reads a file that begins anywhere in memory", () => {
    const memory = new Uint8Array(sound.length + 9);
    memory.set(sound, 5);
    expect(readModelFile(memory.subarray(5, 5 + sound.length)).tensor("words")).toBe(start);
  });

  it("knows the end of the file after memory has grown, which detaches a view", () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    new Uint8Array(memory.buffer).set(sound);
    const { end } = readModelFile(new Uint8Array(memory.buffer, 0, sound.length));
    memory.grow(1);
    expect(end()).toBe(sound.length);
  });

  it("refuses a file that is cut off anywhere", () => {
    for (let length = 0; length < sound.length; length++) {
      expect(refusal(() => readModelFile(sound.subarray(0, length)))).toBe("model_invalid");
    }
  });

  it.each([0, PROGRAM_VERSION + 1, "1", null, { toString: 1 }, [{ toString: null }]])(
    "refuses version %j, and names the version that it supports",
    (version) => {
      const read = () => readModelFile(fileOf({ version: version as number }));
      expect(refusal(read)).toBe("model_version");
      expect(read).toThrow(`version ${PROGRAM_VERSION}.`);
    },
  );

  it.each([
    "",
    "null",
    "[]",
    "7",
    '{"__metadata__":null}',
    '{"__metadata__":{"program":7}}',
    '{"__metadata__":{"program":{}}}',
    '{"__metadata__":{"program":"{"}}',
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: null }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: 0 } }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: [-8, 0] } }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: [0, 8] } }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: ["0", 0] } }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: [[], 0] } }),
    JSON.stringify({ __metadata__: { program: JSON.stringify(program) }, words: { data_offsets: [0, -0.5] } }),
  ])("refuses the header %s", (header) => {
    expect(refusal(() => readModelFile(withHeader(header)))).toMatch(/^model_(invalid|version)$/);
  });

  it("names the missing tensor in its error", () => {
    expect(() => readModelFile(sound).tensor("constructor")).toThrow("it has no tensor constructor");
  });

  it("reads or refuses a damaged file", () => {
    const damage = fc.array(fc.record({ at: fc.nat(sound.length - 1), byte: fc.nat(255) }), {
      minLength: 1,
      maxLength: 4,
    });
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(damage, (bytes) => {
        const damaged = sound.slice();
        for (const { at, byte } of bytes) damaged[at] = byte;
        const outcome = refusal(() => readModelFile(damaged).tensor("words"));
        expect(outcome).toMatch(/^(accepted|model_invalid|model_version)$/);
        outcomes.add(outcome);
      }),
      seeded(2000),
    );
    expect(outcomes.size).toBe(3);
  });
});
