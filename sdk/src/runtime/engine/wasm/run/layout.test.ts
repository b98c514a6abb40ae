import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { placedFile } from "#test/fixtures/placed-file.ts";
import { checkedProgram } from "#test/fixtures/random-program/checked-program.ts";
import { programFile } from "#test/fixtures/random-program/file.ts";
import { PROGRAM_VOCABULARY, randomProgram } from "#test/fixtures/random-program/index.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { openKernels } from "#test/suites/kernels/builds.ts";
import { commonDrawing } from "#test/suites/kernels/drawing.ts";
import type { KernelMachine } from "#test/suites/kernels/place.ts";
import { parseProgram } from "../load/parse-program.ts";
import type { Step } from "../ops/index.ts";
import type { Layout } from "./block.ts";
import type { CheckedProgram } from "./checked-program.ts";
import { BLOCK, layoutOf } from "./layout.ts";
import { run } from "./machine.ts";
import { PROGRAM_VERSION } from "./program.ts";
import { type Segment, segmentsOf } from "./segments.ts";

/** Addresses in the test's memory, with enough room for the file and every value of a random program. */
const IDS = 3 * 2 ** 17;
const SCRATCH = 2 ** 19;
const VALUES = 2 ** 20;
const END = 2 ** 22;

const cases = fc.record({
  seed: fc.nat(),
  length: fc.integer({ min: 1, max: 14 }),
  lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 60, max: 110 })), {
    minLength: 1,
    maxLength: 3,
  }),
  /** Tokens that the layout has room for in addition to the tokens of the batch. */
  room: fc.constantFrom(0, 1, 100),
  /** Share of the tokens of each sequence that belong to its first text. */
  share: fc.constantFrom(0, 0.4, 1),
});

interface Arrangement {
  readonly layout: Layout;
  readonly segments: readonly Segment[];
}

/** Returns a layout and segments. In the layout, values do not share memory. Each segment has one step. */
function separate({ values, steps }: CheckedProgram, tokens: number): Arrangement {
  const offsets = values.map((_, i) => i * tokens * 128);
  return {
    layout: {
      tokens,
      offsets,
      parameters: offsets.map((offset) => offset + tokens * 64),
      isWhole: values.map(() => true),
      bytes: values.length * tokens * 128,
    },
    segments: segmentsOf({ values, steps }).flatMap(({ kind, from, to }) =>
      Array.from({ length: to - from }, (_, i) => ({ kind, from: from + i, to: from + i + 1 })),
    ),
  };
}

describe("layoutOf", () => {
  let opened: KernelMachine;
  beforeAll(async () => {
    opened = await openKernels("simd", END);
    const draw = commonDrawing(1);
    new Int32Array(opened.memory.buffer, IDS, 2 ** 10).set(draw.integers(2 ** 10, 0, PROGRAM_VOCABULARY - 1));
  });

  const lengthsOf = (starts: readonly number[]) => starts.slice(1).map((end, i) => end - (starts[i] as number));

  /** Runs a program. Expects that the bytes after the values do not change. @returns the bytes of the result */
  function resultOf(program: CheckedProgram, { segments, layout }: Arrangement, starts: number[], seconds: number[]) {
    const { kernels, memory } = opened;
    const bytes = new Uint8Array(memory.buffer).fill(0xff, SCRATCH);
    const regions = { rowScales: 0, values: VALUES, ids: IDS, places: 0, scratch: SCRATCH };
    run({ memory, kernels, program, segments }, { layout, regions, starts, seconds, attended: lengthsOf(starts) });
    const { width, of, type } = program.values[program.output] as CheckedProgram["values"][number];
    const rows = of === "token" ? (starts.at(-1) as number) : starts.length - 1;
    const begin = VALUES + (layout.offsets[program.output] as number);
    const rest = bytes.subarray(VALUES + layout.bytes);
    expect(Buffer.compare(rest, new Uint8Array(rest.length).fill(0xff))).toBe(0);
    return Buffer.from(bytes.slice(begin, begin + rows * width * (type === "i8" ? 1 : 4)));
  }

  it("gives the same result as a layout without shared memory, run step by step", () => {
    const count = runs(80, 400);
    let shared = 0;
    let blocks = 0;
    fc.assert(
      fc.property(cases, ({ seed, length, lengths, room, share }) => {
        const file = programFile(randomProgram(seed, length).program);
        const program = parseProgram(placedFile(opened.memory, opened.kernels, file).file());
        const starts = [0];
        for (const count of lengths) starts.push((starts.at(-1) as number) + count);
        const seconds = lengths.map((count, i) => (starts[i] as number) + Math.floor(share * count));
        const tokens = (starts.at(-1) as number) + room;
        const segments = segmentsOf(program);
        const layout = layoutOf(program, segments, tokens);
        const apart = separate(program, tokens);
        const found = resultOf(program, { segments, layout }, starts, seconds);
        expect(Buffer.compare(found, resultOf(program, apart, starts, seconds))).toBe(0);
        if (new Set(layout.offsets).size < layout.offsets.length) shared++;
        if (tokens - room > BLOCK && layout.isWhole.includes(false)) blocks++;
      }),
      seeded(count),
    );
    expect(Math.min(shared, blocks)).toBeGreaterThan(count / 8);
  });

  it("reuses the memory of values that attention has read", () => {
    const view = (value: number) => ({ value, column: 0 });
    const attention = (x: number, out: number): Step => {
      const [query, key, value] = [view(x), view(x), view(x)];
      return { op: "attention", query, key, value, heads: 1, size: 64, scale: 1, out };
    };
    const steps: Step[] = [
      { op: "lookup", table: "bytes", scales: "floats", bits: 8, out: 0 },
      attention(0, 1),
      { op: "activation", kind: "relu", x: view(1), out: 2 },
      attention(2, 3),
    ];
    const values = steps.map(() => ({ width: 64, of: "token", type: "f32" }) as const);
    const program = checkedProgram({
      version: PROGRAM_VERSION,
      values,
      steps,
      output: 3,
      maxTokens: 512,
      vocabulary: PROGRAM_VOCABULARY,
    });
    const tokens = 2 * BLOCK;
    expect(layoutOf(program, segmentsOf(program), tokens).bytes).toBe(2 * tokens * 64 * 4);
  });

  it("writes hidden states over those before them", () => {
    const view = (value: number) => ({ value, column: 0 });
    const [query, key, value] = [view(0), view(0), view(0)];
    const steps: Step[] = [
      { op: "lookup", table: "bytes", scales: "floats", bits: 8, out: 0 },
      { op: "attention", query, key, value, heads: 1, size: 64, scale: 1, out: 1 },
      { op: "add", x: 1, y: view(0), out: 2 },
      { op: "activation", kind: "relu", x: view(2), out: 3 },
      { op: "attention", query: view(3), key: view(3), value: view(3), heads: 1, size: 64, scale: 1, out: 4 },
    ];
    const values = steps.map(() => ({ width: 64, of: "token", type: "f32" }) as const);
    const program = checkedProgram({
      ...{ version: PROGRAM_VERSION, values, steps, output: 4, maxTokens: 512, vocabulary: PROGRAM_VOCABULARY },
    });
    const tokens = 4 * BLOCK;
    const { offsets, bytes } = layoutOf(program, segmentsOf(program), tokens);
    expect([offsets[0], offsets[1]]).toContain(offsets[3]);
    expect(bytes).toBe((2 * tokens + BLOCK) * 64 * 4);
  });
});
