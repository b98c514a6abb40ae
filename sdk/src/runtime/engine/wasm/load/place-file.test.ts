import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { placedFile } from "#test/fixtures/placed-file.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { expandedWeights } from "#test/oracles/reference/expanded-weights.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { commonDrawing } from "#test/suites/kernels/drawing.ts";
import type { TensorToWrite } from "../../../../artifact/safetensors.ts";
import { MODEL } from "../constants/memory.ts";
import type { Step } from "../ops/index.ts";
import { packedGroupBytes, type WeightGroup, weightGroups } from "../ops/linear.ts";
import { instantiate, type Kernels } from "../run/kernels.ts";
import { pagesFor } from "../run/memory-map.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";
import { tensorsBegin } from "./model-file.ts";
import { placeFile } from "./place-file.ts";

interface Weight {
  readonly group: WeightGroup;
  readonly groups: number;
  /** Bytes after the last group. */
  readonly spare: number;
}

const OTHERS = Float32Array.from({ length: 50 }, (_, i) => i / 4);
const GUARD = 0xa5;

const weights = fc.array(
  fc.record({
    group: fc.constantFrom(...weightGroups),
    groups: fc.integer({ min: 1, max: 40 }),
    spare: fc.constantFrom(0, 4, 60),
  }),
  { minLength: 1, maxLength: 5 },
);

const linear = (weight: string, group?: WeightGroup): Step => ({
  op: "linearInt8",
  x: 0,
  weight,
  ...(group && { group }),
  ...{ scales: "others", zeroPoints: "others", sums: "others", bias: "others", out: 1 },
});

const programOf = (steps: readonly Step[], changes: Partial<Program> = {}): Program => ({
  version: PROGRAM_VERSION,
  values: [],
  steps,
  output: 0,
  maxTokens: 8,
  vocabulary: 8,
  ...changes,
});

const fileOf = (program: Program, tensors: Readonly<Record<string, TensorToWrite>>): Uint8Array<ArrayBuffer> =>
  safetensorsFile(tensors, { program: JSON.stringify(program) });

const bytesTensor = (data: Uint8Array): TensorToWrite => ({ dtype: "U8", shape: [data.length], data });

/** Makes a file of packed weights, which other tensors follow. `named` has the packed bytes of each weight. */
function packedFile(given: readonly Weight[], changes: Partial<Program> = {}, seed = 1) {
  const draw = commonDrawing(seed);
  const named = new Map(
    given.map(({ group, groups, spare }, i) => {
      const bytes = groups * packedGroupBytes(group);
      return [`w${i}`, { group, bytes, data: Uint8Array.from(draw.integers(bytes + spare, 0, 255)) }] as const;
    }),
  );
  const steps = [...named].map(([name, { group }]) => linear(name, group));
  const packed = [...named].map(([name, { data }]) => [name, bytesTensor(data)] as const);
  const others = { others: float32Tensor([OTHERS.length], OTHERS), bytes: bytesTensor(Uint8Array.of(1, 2, 3)) };
  const file = fileOf(programOf(steps, changes), { ...Object.fromEntries(packed), ...others });
  return { file, named };
}

describe("placeFile", () => {
  let simd: WebAssembly.Module;
  beforeAll(async () => {
    simd = await compiledKernels("simd");
  });

  /** Opens a memory with room for a file and not much more. */
  function open(size: number): { memory: WebAssembly.Memory; kernels: Kernels } {
    const memory = new WebAssembly.Memory({ initial: pagesFor(MODEL + size) });
    const kernels = instantiate(simd, memory);
    new Uint8Array(memory.buffer, MODEL).fill(GUARD);
    return { memory, kernels };
  }

  /** Reads a tensor as kernels would. */
  function tensorIn(memory: WebAssembly.Memory, place: ReturnType<typeof placeFile>, name: string): Uint8Array {
    const file = place.file();
    return new Uint8Array(memory.buffer, MODEL + file.tensor(name), file.size(name)).slice();
  }

  function expectPlaced(
    memory: WebAssembly.Memory,
    place: ReturnType<typeof placeFile>,
    drawn: ReturnType<typeof packedFile>,
  ) {
    for (const [name, { group, bytes, data }] of drawn.named) {
      expect(place.file().tensor(name) % 64).toBe(0);
      expect(Buffer.compare(tensorIn(memory, place, name), expandedWeights(data.subarray(0, bytes), group))).toBe(0);
    }
    expect(new Float32Array(tensorIn(memory, place, "others").buffer)).toEqual(OTHERS);
    expect([...tensorIn(memory, place, "bytes")]).toEqual([1, 2, 3]);
    const { begins } = place.file().expansions;
    const rest = new Uint8Array(memory.buffer, MODEL + begins + drawn.file.length);
    // Memory that has grown is zero.
    expect(new Set(rest).isSubsetOf(new Set([0, GUARD]))).toBe(true);
  }

  it("expands every weight and keeps every other tensor, whatever arrives at a time", () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    fc.assert(
      fc.property(weights, shares, fc.nat(), (given, cuts, seed) => {
        const drawn = packedFile(given, {}, seed);
        const { memory, kernels } = open(drawn.file.length);
        const chunks = cuts.map((share) => Math.floor(share * drawn.file.length)).sort((a, b) => a - b);
        expectPlaced(memory, placedFile(memory, kernels, drawn.file, chunks), drawn);
      }),
      seeded(200),
    );
  });

  it("keeps bytes that have arrived before they are checked", () => {
    fc.assert(
      fc.property(weights, fc.nat(), (given, seed) => {
        const drawn = packedFile(given, {}, seed);
        const { file } = drawn;
        const { memory, kernels } = open(file.length);
        const random = randomNumbers(seed);
        const place = placeFile(memory, kernels, file.length);
        let [count, filled] = [0, 0];
        while (count < file.length) {
          const next = Math.min(file.length, filled + Math.floor(file.length * random() ** 2));
          place.bytes().set(file.subarray(filled, next), filled);
          filled = next;
          count = random() < 0.2 ? filled : count + Math.floor((filled - count) * random());
          if (filled === file.length && random() < 0.3) count = filled;
          place.arrived(count, filled);
        }
        expectPlaced(memory, place, drawn);
      }),
      seeded(200),
    );
  });

  it("expands a weight as soon as it has been checked, and no byte earlier", () => {
    const drawn = packedFile([
      { group: 16, groups: 9, spare: 0 },
      { group: 32, groups: 5, spare: 4 },
    ]);
    const { file, named } = drawn;
    const { memory, kernels } = open(file.length);
    const expanded: number[] = [];
    const expandInt4: Kernels["expandInt4"] = (packed, groups, group, out) => {
      expanded.push(group);
      kernels.expandInt4(packed, groups, group, out);
    };
    const place = placeFile(memory, { expandInt4 }, file.length);
    const begin = tensorsBegin(file);
    const [first, second] = [...named.values()].map(({ data }) => data.length) as [number, number];
    const wanted: [number, number[]][] = [
      [7, []],
      [8, []],
      [begin - 1, []],
      [begin, []],
      [begin + first - 1, []],
      [begin + first, [16]],
      [begin + first + second - 1, [16]],
      [begin + first + second, [16, 32]],
      [file.length, [16, 32]],
    ];
    place.bytes().set(file);
    for (const [count, groups] of wanted) {
      place.arrived(count, file.length);
      expect(expanded).toEqual(groups);
      expect(place.headerEnd()).toBe(count < 8 ? 0 : begin);
    }
    expectPlaced(memory, place, drawn);
  });

  it("moves the file once, by less than its weights grow", () => {
    fc.assert(
      fc.property(weights, (given) => {
        const { file, named } = packedFile(given);
        const { memory, kernels } = open(file.length);
        const place = placedFile(memory, kernels, file);
        const { begins } = place.file().expansions;
        expect(begins % 64).toBe(0);
        expect(place.bytes()).toHaveLength(file.length);
        expect(place.bytes().byteOffset).toBe(MODEL + begins);
        const growth = [...named].reduce(
          (sum, [name, { bytes }]) => sum + (place.file().size(name) as number) - bytes,
          0,
        );
        expect(begins).toBeLessThan(growth + 64);
      }),
      seeded(100),
    );
  });

  it.each([
    ["has no weights of 4 bits", packedFile([])],
    ["expands its weights in each call", packedFile([{ group: 32, groups: 3, spare: 4 }], { expands: "each call" })],
  ])("leaves a file as it is that %s", (_, { file }) => {
    const { memory, kernels } = open(file.length);
    const place = placedFile(memory, kernels, file, [10, 200, file.length - 1]);
    expect(place.bytes().byteOffset).toBe(MODEL);
    expect(Buffer.compare(place.bytes(), file)).toBe(0);
  });

  it("expands a weight once that two steps share", () => {
    const data = Uint8Array.from({ length: packedGroupBytes(16) }, (_, i) => i);
    const program = programOf([linear("w", 16), linear("w", 16)]);
    const file = fileOf(program, { w: bytesTensor(data), others: float32Tensor([1], [1]) });
    const { memory, kernels } = open(file.length);
    const place = placedFile(memory, kernels, file);
    expect(place.file().expansions.weights).toHaveLength(1);
    expect(tensorIn(memory, place, "w")).toEqual(expandedWeights(data, 16));
  });

  describe("refuses a file", () => {
    const w = bytesTensor(new Uint8Array(packedGroupBytes(16)));
    const others = float32Tensor([1], [1]);
    it.each<[string, Uint8Array<ArrayBuffer>, string]>([
      ["that is empty", new Uint8Array(), "model_invalid"],
      ["that is shorter than its header", fileOf(programOf([]), { w }).slice(0, 40), "model_invalid"],
      [
        "with another tensor before packed weights",
        fileOf(programOf([linear("w", 16)]), { others, w }),
        "model_invalid",
      ],
      [
        "with another tensor between packed weights",
        fileOf(programOf([linear("w", 16), linear("v", 16)]), { w, others, v: w }),
        "model_invalid",
      ],
      [
        "with a weight of two sizes of groups",
        fileOf(programOf([linear("w", 16), linear("w", 32)]), { w, others }),
        "model_invalid",
      ],
      ["of another version", fileOf(programOf([], { version: PROGRAM_VERSION + 1 }), { w }), "model_version"],
    ])("%s", (_, file, code) => {
      const { memory, kernels } = open(file.length);
      const before = new Uint8Array(memory.buffer).slice();
      before.set(file, MODEL);
      expect(refusal(() => placedFile(memory, kernels, file))).toBe(code);
      expect(Buffer.compare(new Uint8Array(memory.buffer), before)).toBe(0);
    });
  });
});
