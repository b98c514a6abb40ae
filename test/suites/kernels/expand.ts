import fc from "fast-check";
import { packedGroupBytes, type WeightGroup, weightGroups } from "#sdk/runtime/engine/wasm/ops/linear.ts";
import { expandedWeights } from "../../oracles/reference/expanded-weights.ts";
import type { KernelCase } from "./kernel-case.ts";

interface Shape {
  readonly groups: number;
  readonly group: WeightGroup;
}

const OUTPUTS = 8;
/** Content of the array for results before the call. */
const UNWRITTEN = 0xaa;

export const expandInt4: KernelCase<Shape> = {
  shapes: fc.record({ groups: fc.constantFrom(1, 2, 3, 7, 24), group: fc.constantFrom(...weightGroups) }),
  call({ groups, group }, draw) {
    // All bytes are valid: bases, two multipliers, or two codes. Sums above 255 lose their ninth bit.
    const packed = Uint8Array.from(draw.integers(groups * packedGroupBytes(group), 0, 255));
    const out = new Uint8Array(groups * OUTPUTS * group).fill(UNWRITTEN);
    return {
      operands: [packed, groups, group, out],
      results: async () => new Map([[out, { values: expandedWeights(packed, group) }]]),
    };
  },
  // Models that expand their weights once do so while they are loaded.
  passes: ({ hidden, intermediate }) =>
    weightGroups.map((group) => ({ shape: { groups: (hidden * intermediate) / OUTPUTS / group, group }, times: 0 })),
  unit: "number",
  work: ({ groups, group }) => groups * OUTPUTS * group,
};
