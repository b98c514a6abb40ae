import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { expandedWeights } from "#test/oracles/reference/expanded-weights.ts";
import { openKernels } from "#test/suites/kernels/builds.ts";
import type { KernelMachine } from "#test/suites/kernels/place.ts";
import { MODEL } from "../../runtime/engine/wasm/constants/memory.ts";
import { packedGroupBytes, type WeightGroup, weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import { tensor } from "../graph/tensor.ts";
import { packWeight } from "./pack-weight.ts";
import { tileWeight } from "./tile-weight.ts";

const CACHE_LINE = 64;

interface Points {
  readonly base: number;
  readonly multiplier: number;
  readonly codes: readonly number[];
}

/** Draws the points of a group: all 16 of them, few, two that are far apart, or one. */
const points = (group: WeightGroup): fc.Arbitrary<Points> =>
  fc.integer({ min: 1, max: 8 }).chain((multiplier) =>
    fc.record({
      base: fc.integer({ min: 0, max: 127 - 15 * multiplier }),
      multiplier: fc.constant(multiplier),
      codes: fc.oneof(
        ...[fc.nat(15), fc.constantFrom(0, 15), fc.constantFrom(3, 4), fc.constant(7)].map((code) =>
          fc.array(code, { minLength: group, maxLength: group }),
        ),
      ),
    }),
  );

const weights = fc
  .record({
    group: fc.constantFrom(...weightGroups),
    groups: fc.integer({ min: 1, max: 3 }),
    outputs: fc.constantFrom(1, 3, 7, 8, 9, 16, 21),
  })
  .chain(({ group, groups, outputs }) =>
    fc.array(points(group), { minLength: groups * outputs, maxLength: groups * outputs }).map((drawn) => {
      const values = drawn.flatMap(({ base, multiplier, codes }) => codes.map((code) => base + multiplier * code));
      return { group, groups, weight: tensor("uint8", [outputs, groups * group], Uint8Array.from(values)) };
    }),
  );

describe("packWeight", () => {
  let machine: KernelMachine;
  beforeAll(async () => {
    machine = await openKernels("simd", 2 ** 17);
  });

  it("stores weights from which the engine gets the same tiles as from weights of 7 bits", () => {
    fc.assert(
      fc.property(weights, ({ group, groups, weight }) => {
        const { dtype, data: packed } = packWeight(weight, group);
        const wanted = tileWeight(weight).data;
        const count = (groups * Math.ceil((weight.shape[0] as number) / 8)) as number;
        const bytes = count * packedGroupBytes(group);
        expect({ dtype, length: packed.length }).toEqual({
          dtype: "uint8",
          length: Math.ceil(bytes / CACHE_LINE) * CACHE_LINE,
        });
        expect(expandedWeights(packed.subarray(0, bytes), group)).toEqual(wanted);
        const { memory, kernels } = machine;
        const out = MODEL + packed.length;
        new Uint8Array(memory.buffer, MODEL).set(packed);
        kernels.expandInt4(MODEL, count, group, out);
        expect(Buffer.compare(new Uint8Array(memory.buffer, out, wanted.length), wanted)).toBe(0);
      }),
      seeded(300),
    );
  });

  it.each<[string, readonly number[]]>([
    ["are more than 15 · 15 apart", [0, 226]],
    ["have a prime distance above 15", [0, 17]],
    ["are 17 neighbours", Array.from({ length: 17 }, (_, i) => i)],
  ])("refuses a group whose weights %s", (_, some) => {
    const values = Uint8Array.from({ length: 32 }, (_, i) => some[i % some.length] as number);
    expect(() => packWeight(tensor("uint8", [1, 32], values), 32)).toThrow(RangeError);
  });
});
