import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import { PROGRAM_VERSION, type Program } from "../../runtime/engine/wasm/run/program.ts";
import { readTensors } from "../checkpoint/read-tensors.ts";
import { elementSize, type Tensor } from "../graph/tensor.ts";
import { writeModelFile } from "./write-model-file.ts";

const CACHE_LINE = 64;

const program = fc
  .record({ maxTokens: fc.nat(512), vocabulary: fc.nat(), output: fc.nat(9) })
  .map((drawn): Program => ({ ...drawn, version: PROGRAM_VERSION, values: [], steps: [] }));
const someTensor = fc
  .record({
    dtype: fc.constantFrom("float32", "int32", "uint8"),
    shape: fc.array(fc.constantFrom(0, 1, 3, 8, 16), { maxLength: 3 }),
    byte: fc.integer({ min: 1, max: 255 }),
  })
  .map(({ dtype, shape, byte }): Tensor => {
    const count = shape.reduce((total: number, size) => total * size, 1);
    return { dtype, shape, data: new Uint8Array(count * elementSize[dtype]).fill(byte) };
  });
const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((drawn) => drawn !== "__metadata__");
const tensors = fc.array(fc.tuple(name, someTensor), { maxLength: 12 }).map((entries) => new Map(entries));

describe("writeModel", () => {
  it("writes a safetensors file that contains the tensors unchanged", () => {
    fc.assert(
      fc.property(program, tensors, (written, given) => {
        const found = readTensors(writeModelFile({ program: written, tensors: given }), "model");
        expect(new Map([...found].sort())).toEqual(new Map([...given].sort()));
      }),
      seeded(300),
    );
  });

  it("writes a file from which the engine reads the program and each tensor's bytes", () => {
    fc.assert(
      fc.property(program, tensors, (written, given) => {
        const file = writeModelFile({ program: written, tensors: given });
        const read = readModelFile(file);
        expect(read.program).toEqual(written);
        for (const [name, { data }] of given) {
          const offset = read.tensor(name);
          expect(file.subarray(offset, offset + data.length)).toEqual(data);
        }
      }),
      seeded(300),
    );
  });

  it("puts token embedding tables last, whatever their size", () => {
    fc.assert(
      fc.property(program, tensors, fc.nat(), (written, given, seed) => {
        const table = [...given.keys()][seed % given.size];
        fc.pre(table !== undefined);
        const lookup = { op: "lookup", table, scales: "", bits: 8, out: 0 } as const;
        const file = writeModelFile({ program: { ...written, steps: [lookup] }, tensors: given });
        const read = readModelFile(file);
        expect(read.tensor(table) + (read.size(table) as number)).toBe(file.length);
        for (const name of given.keys()) expect(read.tensor(name)).toBeLessThanOrEqual(read.tensor(table));
      }),
      seeded(300),
    );
  });

  it("puts weights of 4 bits first, whatever their size", () => {
    fc.assert(
      fc.property(program, tensors, fc.nat(), (written, given, seed) => {
        const names = [...given.keys()].filter((_, i) => (seed >> i) % 2 === 1);
        const steps = names.map((weight, i) => {
          const group = i % 2 ? 16 : 32;
          return {
            op: "linearInt8",
            x: 0,
            weight,
            group,
            scales: "",
            zeroPoints: "",
            sums: "",
            bias: "",
            out: 1,
          } as const;
        });
        const file = writeModelFile({ program: { ...written, steps, expands: "each call" }, tensors: given });
        const read = readModelFile(file);
        const others = [...given.keys()].filter((other) => !names.includes(other)).map((other) => read.tensor(other));
        const ends = names.map((packed) => read.tensor(packed) + (read.size(packed) as number));
        expect(Math.max(0, ...ends)).toBeLessThanOrEqual(Math.min(file.length, ...others));
      }),
      seeded(300),
    );
  });

  it("starts tensors that fill whole cache lines at a cache line, and puts other tensors after them", () => {
    fc.assert(
      fc.property(program, tensors, (written, given) => {
        const file = writeModelFile({ program: written, tensors: given });
        const read = readModelFile(file);
        const isWhole = ({ data }: Tensor) => data.length % CACHE_LINE === 0;
        const offsets = (some: (tensor: Tensor) => boolean) =>
          [...given].filter(([, tensor]) => some(tensor)).map(([name]) => read.tensor(name));
        const whole = offsets(isWhole);
        for (const offset of whole) expect(offset % CACHE_LINE).toBe(0);
        const others = offsets((tensor) => !isWhole(tensor));
        expect(Math.max(0, ...whole)).toBeLessThanOrEqual(Math.min(file.length, ...others));
      }),
      seeded(300),
    );
  });
});
