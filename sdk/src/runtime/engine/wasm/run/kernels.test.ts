import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { quantizeRows } from "#test/oracles/reference/quantize-rows.ts";
import { attentionInt8 } from "#test/suites/kernels/attention.ts";
import { builds, compiledKernels, openKernels } from "#test/suites/kernels/builds.ts";
import { difference } from "#test/suites/kernels/difference.ts";
import { commonDrawing, type Drawing, drawing } from "#test/suites/kernels/drawing.ts";
import { gemmInt8 } from "#test/suites/kernels/gemm.ts";
import { type KernelName, kernelTable, SCRATCH_SIZE } from "#test/suites/kernels/index.ts";
import { type KernelMachine, place } from "#test/suites/kernels/place.ts";
import { KERNEL_DATA, MODEL } from "../constants/memory.ts";
import { I8 } from "../constants/operand-ranges.ts";
import { instantiate } from "./kernels.ts";

const MEMORY = 2 ** 20;
const RUNS = runs(25, 100);

const names = Object.keys(kernelTable) as KernelName[];
/** Guard bytes around the operands. As float32 numbers, they are NaN, nearly the maximum, or zero. */
const placement = fc.record({ seed: fc.nat(), guard: fc.constantFrom(0xff, 0x7f, 0) });
const drawings = fc.nat();

describe.each(builds)("the kernels, built for %s", (build) => {
  let machine: KernelMachine;
  beforeAll(async () => {
    machine = await openKernels(build, MEMORY);
  });

  it("are the same as in the kernel table", async () => {
    const exported = WebAssembly.Module.exports(await compiledKernels(build)).filter(({ kind }) => kind === "function");
    expect(exported.map(({ name }) => name).sort()).toEqual([...names, SCRATCH_SIZE].sort());
  });

  it("keep their constants between KERNEL_DATA and MODEL", async () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    new Uint8Array(memory.buffer).fill(0xff);
    instantiate(await compiledKernels(build), memory);
    const written = new Uint8Array(memory.buffer).findIndex((byte) => byte !== 0xff);
    const last = new Uint8Array(memory.buffer).findLastIndex((byte) => byte !== 0xff);
    expect(written).toBeGreaterThanOrEqual(KERNEL_DATA);
    expect(last).toBeLessThan(MODEL);
  });

  it.each(names)("%s writes what the scalar reference computes, and nothing else", async (name) => {
    const { shapes, call } = kernelTable[name];
    await fc.assert(
      fc.asyncProperty(shapes, drawings, placement, async (shape, seed, where) => {
        expect(await difference(name, call(shape, drawing(seed)), machine, where)).toBeUndefined();
      }),
      seeded(RUNS),
    );
  });

  it.each([
    { x: -1, byte: -128 },
    { x: 1, byte: 127 },
  ])("gemmInt8 neither saturates nor overflows when all bytes are $byte and all weights 127", async ({ x, byte }) => {
    const call = gemmInt8.call({ m: 7, k: 3072, n: 9, stride: 9 }, same(x));
    expect(new Set(call.operands[0] as Int8Array)).toEqual(new Set([byte]));
    expect(await difference("gemmInt8", call, machine, { seed: 1, guard: 0xff })).toBeUndefined();
  });

  it("gemmInt8 computes matrices whose weights do not fit one block", async () => {
    const large = await openKernels(build, 4 * MEMORY);
    const call = gemmInt8.call({ m: 7, k: 3072, n: 345, stride: 346 }, drawing(1));
    expect(await difference("gemmInt8", call, large, { seed: 1, guard: 0xff })).toBeUndefined();
  });

  it("quantizeRowsInt8 returns a finite scale except for rows with NaN, infinity or a range beyond float32", () => {
    const others = [1, -2, 3, -4];
    const beyond = [
      [Number.NaN, 1, 2, 3],
      [0, 0, 0, -Number.NaN],
      [1, Number.POSITIVE_INFINITY, 2, 3],
      [1, 2, Number.NEGATIVE_INFINITY, 3],
      [3e38, -3e38, 0, 0],
    ];
    const x = Float32Array.from([others, ...beyond, others].flat());
    const [rows, width, out, params] = [beyond.length + 2, 4, MODEL + 4096, MODEL + 8192];
    new Float32Array(machine.memory.buffer, MODEL, x.length).set(x);
    machine.kernels.quantizeRowsInt8(MODEL, 0, rows, width, out, params);
    const scales = Array.from({ length: rows }, (_, i) => new Float32Array(machine.memory.buffer, params + 16 * i)[0]);
    expect(scales.map(Number.isFinite)).toEqual([true, ...beyond.map(() => false), true]);
    const bytes = (row: number) =>
      new Int8Array(machine.memory.buffer.slice(out + width * row, out + width * (row + 1)));
    const alone = quantizeRows(Float32Array.from(others), width, I8).values;
    expect([bytes(0), bytes(rows - 1)]).toEqual([alone, alone]);
  });

  it("attentionInt8 returns NaN for a row whose query has NaN, and for a channel whose values have NaN", async () => {
    const [tokens, size] = [19, 8];
    const shape = { tokens, size, stride: 3 * size, outStride: size, isDense: false };
    const at = fc.record({ token: fc.nat(tokens - 1), channel: fc.nat(size - 1), part: fc.constantFrom(0, 2) });
    await fc.assert(
      fc.asyncProperty(at, fc.constantFrom(0, tokens), placement, async ({ token, channel, part }, span, where) => {
        const call = attentionInt8.call({ ...shape, span }, withNaN(token * shape.stride + part * size + channel));
        expect(await difference("attentionInt8", call, machine, where)).toBeUndefined();
        const [[, { values }]] = [...(await call.results())] as [[unknown, { values: Float32Array }]];
        expect(values.filter(Number.isNaN)).toHaveLength(part === 0 ? size : tokens);
      }),
      seeded(20),
    );
  });
});

describe("both builds", () => {
  it.each(names)("compute the same bits with %s", async (name) => {
    const machines = await Promise.all(builds.map((build) => openKernels(build, MEMORY)));
    const { shapes, call } = kernelTable[name];
    fc.assert(
      fc.property(shapes, drawings, placement, (shape, seed, where) => {
        const [one, other] = machines.map((machine) => {
          place(name, call(shape, commonDrawing(seed)), machine, where).run();
          return new Uint8Array(machine.memory.buffer, MODEL);
        }) as [Uint8Array, Uint8Array];
        expect(Buffer.compare(one, other)).toBe(0);
      }),
      seeded(10),
    );
  });
});

/** Gives all floats of the operands the value `x`, and all integers their maximum. */
const same = (x: number): Drawing => ({
  floats: (rows, width) => new Float32Array(rows * width).fill(x),
  integers: (length, _, max) => new Array(length).fill(max),
});

/** Draws numbers like commonDrawing, with NaN at index `at` of every matrix that has several rows. */
const withNaN = (at: number): Drawing => {
  const drawn = commonDrawing(1);
  const numbers = (rows: number, width: number) => drawn.floats(rows, width);
  return {
    ...drawn,
    floats: (rows, width) => (rows === 1 ? numbers(rows, width) : numbers(rows, width).with(at, Number.NaN)),
  };
};
