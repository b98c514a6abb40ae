import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { builds, compiled, openKernels } from "../../../../../test/suites/kernels/builds.ts";
import { difference } from "../../../../../test/suites/kernels/difference.ts";
import { drawing } from "../../../../../test/suites/kernels/drawing.ts";
import { type KernelName, kernelTable, SIZE } from "../../../../../test/suites/kernels/index.ts";
import type { Machine } from "../../../../../test/suites/kernels/place.ts";
import { seeded } from "../../../../../test/suites/seeded.ts";

const MEMORY = 2 ** 20;
const RUNS = 100;

const names = Object.keys(kernelTable) as KernelName[];
/** NaN, nearly the greatest float32, and zero. */
const placement = fc.record({ seed: fc.nat(), guard: fc.constantFrom(0xff, 0x7f, 0) });
const drawings = fc.nat();

describe.each(builds)("the kernels, built for %s", (build) => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await openKernels(build, MEMORY);
  });

  it("are those of the table", async () => {
    const exported = WebAssembly.Module.exports(await compiled(build)).map(({ name }) => name);
    expect(exported.sort()).toEqual([...names, SIZE].sort());
  });

  it.each(names)("%s leaves what the scalar reference does, and nothing else", async (name) => {
    const { shapes, call } = kernelTable[name];
    await fc.assert(
      fc.asyncProperty(shapes, drawings, placement, async (shape, seed, where) => {
        expect(await difference(name, call(shape, drawing(seed)), machine, where)).toBeUndefined();
      }),
      seeded(RUNS),
    );
  });
});
