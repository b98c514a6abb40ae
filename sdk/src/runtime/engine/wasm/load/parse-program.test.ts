import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkedProgram as checkedProgramOf } from "#test/fixtures/random-program/checked-program.ts";
import { programFile } from "#test/fixtures/random-program/file.ts";
import { randomProgram } from "#test/fixtures/random-program/index.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { Step } from "../ops/index.ts";
import { packedGroupBytes } from "../ops/linear.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";
import { readModelFile } from "./model-file.ts";
import { parseProgram } from "./parse-program.ts";

const programs = fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 14 }) });

/** Returns a program of two steps: a lookup that writes 16 columns, and `step`, which reads a view of these columns. */
const withStep = (step: Step): Program => ({
  version: PROGRAM_VERSION,
  values: [
    { width: 16, of: "token", type: "f32" },
    { width: 8, of: "token", type: "f32" },
  ],
  steps: [{ op: "lookup", table: "bytes", scales: "floats", bits: 8, out: 0 }, step],
  output: 1,
  maxTokens: 16,
  vocabulary: 50,
});

const view = { value: 0, column: 8 };
const file = programFile(withStep({ op: "activation", kind: "relu", x: view, out: 1 }));
const checkedProgram = (program: Program) => checkedProgramOf(program, file);
const attention = {
  op: "attention",
  query: view,
  key: view,
  value: view,
  heads: 1,
  size: 8,
  scale: 1,
  out: 1,
} as const;
const stepsWithViews: Record<string, (changed: object) => Step> = {
  "multiply.x": (changed) => ({ op: "multiply", x: { ...view, ...changed }, y: view, out: 1 }),
  "multiply.y": (changed) => ({ op: "multiply", x: view, y: { ...view, ...changed }, out: 1 }),
  "activation.x": (changed) => ({ op: "activation", kind: "relu", x: { ...view, ...changed }, out: 1 }),
  "attention.query": (changed) => ({ ...attention, query: { ...view, ...changed } }),
  "attention.key": (changed) => ({ ...attention, key: { ...view, ...changed } }),
  "attention.value": (changed) => ({ ...attention, value: { ...view, ...changed } }),
};

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "model_invalid", message: expect.stringMatching(message) });

describe("parseProgram", () => {
  it("lists the values that each step reads and writes", () => {
    const ops = new Set<string>();
    fc.assert(
      fc.property(programs, ({ seed, length }) => {
        const { program, touched } = randomProgram(seed, length);
        checkedProgramOf(program).steps.forEach(({ reads, writes }, at) => {
          ops.add(program.steps[at]?.op as string);
          expect(new Set([...reads, ...writes])).toEqual(new Set(touched[at]));
        });
      }),
      seeded(300),
    );
    expect(ops.size).toBe(13);
  });

  describe.each(Object.entries(stepsWithViews))("the view %s", (_, stepOf) => {
    it("is accepted with a column inside the value", () => {
      expect(checkedProgram(withStep(stepOf({}))).steps).toHaveLength(2);
    });

    it.each([
      ["no column", { column: undefined }],
      ["a column that is null", { column: null }],
      ["a column that is text", { column: "8" }],
      ["a fraction for a column", { column: 0.5 }],
      ["a negative column", { column: -4 }],
      ["a column too far to the right", { column: 12 }],
      ["a column beyond exact integers", { column: 2 ** 60 }],
      ["a value that does not exist", { value: 9 }],
      ["a value that no earlier step writes", { value: 1, column: 0 }],
      ["no value", { value: undefined }],
    ])("is refused with %s", (__, changed) => {
      expect(() => checkedProgram(withStep(stepOf(changed)))).toThrow(invalid(/ step 1: /));
    });
  });

  it.each([undefined, null, "8", 4, 12, -8])("rotates columns inside the value only (column %j)", (column) => {
    const rotate = { op: "rotate", x: { value: 0, column }, width: 8, size: 8, cosines: "floats", sines: "floats" };
    const last = { op: "activation", kind: "relu", x: view, out: 1 };
    const program = { ...withStep(rotate as Step), steps: [...withStep(rotate as Step).steps, last as Step] };
    const isInside = column === 4;
    if (isInside) expect(checkedProgram(program).steps).toHaveLength(3);
    else expect(() => checkedProgram(program)).toThrow(invalid(/step 1: x has no 8 columns/));
  });

  it.each([-1e30, -1e-12, 1.5, 1e300, Number.NaN, "0", null])(
    "refuses the epsilon %s of a normalization",
    (epsilon) => {
      const norm = (value: unknown) => ({ op: "rmsNorm", x: 0, gamma: "floats", epsilon: value, out: 1 }) as Step;
      const program = (value: unknown) => ({
        ...withStep(norm(value)),
        values: [0, 1].map(() => ({ width: 16, of: "token", type: "f32" }) as const),
      });
      expect(checkedProgram(program(1e-12)).steps).toHaveLength(2);
      expect(() => checkedProgram(program(epsilon))).toThrow(invalid(/epsilon/));
    },
  );

  it("refuses values that are nested too deeply to be shown", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    const step = { op: "activation", kind: "relu", x: view, out: 1 };
    for (const changed of [{ op: deep }, { x: deep }, { out: deep }]) {
      expect(() => checkedProgram(withStep({ ...step, ...changed } as Step))).toThrow(invalid(/nested too deeply/));
    }
  });

  it("refuses an output that is no number, such as an object with a toString that cannot be called", () => {
    const program = withStep({ op: "activation", kind: "relu", x: view, out: 1 });
    const outputs = [{ toString: 1 }, [{ toString: null }], "1", null] as unknown[] as number[];
    for (const output of outputs) {
      expect(() => checkedProgram({ ...program, output })).toThrow(invalid(/its output is not a float32 value/));
    }
  });

  it("refuses values that no step writes, because nothing bounds their size", () => {
    const program = withStep({ op: "activation", kind: "relu", x: view, out: 1 });
    const values = [...program.values, { width: 4, of: "token", type: "f32" } as const];
    expect(() => checkedProgram({ ...program, values })).toThrow(invalid(/no step writes value 2/));
  });

  describe("a linear layer with weights of 4 bits", () => {
    /** A lookup of 32 columns, and a layer whose weights [OUTPUTS, 32] have 4 bits. */
    const layer = (changes: object, sizes: object = {}): Program => ({
      version: PROGRAM_VERSION,
      values: [
        { width: 32, of: "token", type: "f32" },
        { width: 32, of: "token", type: "i8" },
        { width: OUTPUTS, of: "token", type: "f32" },
      ],
      steps: [
        { op: "lookup", table: "floats", scales: "floats", bits: 4, out: 0 },
        { op: "quantize", x: 0, out: 1 },
        { op: "linearInt8", x: 1, weight: "packed", group: 16, ...rest, out: 2, ...changes } as Step,
      ],
      output: 2,
      maxTokens: 16,
      vocabulary: 50,
      ...sizes,
    });
    const rest = { scales: "floats", zeroPoints: "floats", sums: "floats", bias: "floats" };
    const OUTPUTS = 40;
    const outcome = (program: Program, packedBytes: number) => {
      const packed = { dtype: "U8" as const, shape: [packedBytes], data: new Uint8Array(packedBytes) };
      const tensors = { packed, floats: float32Tensor([512], new Float32Array(512)) };
      const header = { program: JSON.stringify(program) };
      return refusal(() => parseProgram(readModelFile(safetensorsFile(tensors, header))));
    };

    it.each(["once", "each call"])("needs all its groups, when they are expanded %s", (expands) => {
      for (const group of [16, 32] as const) {
        const groups = (OUTPUTS / 8) * (32 / group);
        for (let count = 0; count <= groups + 1; count++) {
          const found = outcome(layer({ group }, { expands }), count * packedGroupBytes(group));
          expect(found).toBe(count < groups ? "model_invalid" : "accepted");
        }
        expect(outcome(layer({ group }, { expands }), groups * packedGroupBytes(group) - 1)).toBe("model_invalid");
      }
    });

    it.each([8, 24, 64, 0, -16, "16", null, [16]])("is refused with groups of %j", (group) => {
      expect(outcome(layer({ group }), 4096)).toBe("model_invalid");
    });

    it("is refused if groups do not divide its inputs", () => {
      const values = layer({}).values.map((value) => ({ ...value, width: 16 }));
      const narrow = (group: number) => {
        const { steps, ...others } = layer({ group });
        return { ...others, values, steps: steps.with(0, { ...(steps[0] as Step), bits: 8 } as Step) };
      };
      expect(outcome(narrow(16), 4096)).toBe("accepted");
      expect(outcome(narrow(32), 4096)).toBe("model_invalid");
    });

    it.each([null, "", "never", 0, { toString: 1 }])("is refused if its weights are expanded %j", (expands) => {
      expect(outcome(layer({}, { expands }), 4096)).toBe("model_invalid");
      expect(outcome(layer({}), 4096)).toBe("accepted");
    });

    it("is refused if a step reads its weights as float32 numbers, which are not there before they are expanded", () => {
      for (const part of ["scales", "bias"]) {
        expect(outcome(layer({ [part]: "packed" }), 4096)).toBe("model_invalid");
        expect(outcome(layer({ [part]: "packed" }, { expands: "each call" }), 4096)).toBe("accepted");
      }
    });
  });

  describe("a table in pages", () => {
    const RESIDENT = 20;
    const sound = { resident: RESIDENT, cached: 30, rows: 8, frequent: [41, 3], hashes: Array(4).fill("hash") };
    const bytes = (size: number) => ({ dtype: "U8" as const, shape: [size], data: new Uint8Array(size) });
    const outcome = (pages: object, further: readonly Step[] = [], after = {}) => {
      const lookup = { op: "lookup", table: "table", scales: "scales", bits: 8, pages, out: 0 } as Step;
      const program: Program = { ...withStep(lookup), steps: [lookup, ...further], output: 0 };
      const values = program.values.slice(0, 1);
      const tensors = {
        ...{ scales: bytes(4 * RESIDENT), whole: bytes(50 * 16) },
        ...{ wholeScales: bytes(4 * 50), table: bytes(16 * RESIDENT), ...after },
      };
      const header = { program: JSON.stringify({ ...program, values }) };
      return refusal(() => parseProgram(readModelFile(safetensorsFile(tensors, header))));
    };

    it.each([
      ["fewer rows than it says in the file", { resident: 21, cached: 29 }],
      ["more rows in the file than it says", { resident: 19, cached: 31 }],
      ["all rows in the file", { resident: 50 }],
      ["no rows in the file", { resident: 0 }],
      ["room for fewer rows than a batch can need", { cached: 29 }],
      ["room for more rows than there are", { cached: 31 }],
      ["a hash too few", { rows: 7 }],
      ["no rows in a page", { rows: 0 }],
      ["no list of frequent tokens", { frequent: undefined }],
      ["a frequent token twice", { frequent: [41, 3, 41] }],
      ["a frequent token outside of the vocabulary", { frequent: [50] }],
      ["a frequent token below 0", { frequent: [-1] }],
      ["a frequent token that is not a whole number", { frequent: [1.5] }],
      ["a frequent token that is a text", { frequent: ["3"] }],
      ["a frequent token that is the name of a property", { frequent: ["byteOffset"] }],
      ["no hashes", { hashes: undefined }],
      ["a hash that is not a text", { hashes: [1, 2, 3, 4] }],
    ])("is refused with %s", (_, changes) => {
      expect(outcome(sound)).toBe("accepted");
      expect(outcome({ ...sound, ...changes })).toBe("model_invalid");
    });

    it("is refused if it is not at the end of the file, because cached rows follow it in memory", () => {
      expect(outcome(sound, [], { last: bytes(64) })).toBe("model_invalid");
    });

    it("is refused with another table, whose rows would have the same places", () => {
      const lookup = { op: "lookup", table: "whole", scales: "wholeScales", bits: 8, out: 0 } as const;
      expect(outcome(sound, [lookup])).toBe("model_invalid");
      const inPages = { ...lookup, table: "table", scales: "scales", pages: sound } as Step;
      expect(outcome(sound, [inPages])).toBe("model_invalid");
    });
  });
});
