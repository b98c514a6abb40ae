import { describe, expect, it } from "vitest";
import type { Sketch, SketchAttribute } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { MICROSOFT } from "../../graph/node.ts";

const [A, B] = [
  ["batch", 2, "sequence", 4],
  ["batch", 2, 4, "sequence"],
] as const;

const split = (
  a: readonly (number | string)[],
  b: readonly (number | string)[],
  settings: Record<string, SketchAttribute>,
) =>
  rewritten(
    (s: Sketch) => s.output(s.op("FusedMatMul", [s.input("a", a), s.input("b", b)], settings, { domain: MICROSOFT })),
    { optimize: only() },
  );

describe("FusedMatMul", () => {
  it.each<[string, Parameters<typeof split>, Record<string, number>]>([
    ["without settings", [A, B, {}], { MatMul: 1 }],
    ["with alpha", [A, B, { alpha: { float: 0.125 } }], { MatMul: 1, Mul: 1 }],
    ["of a and bᵀ", [A, A, { transB: 1 }], { MatMul: 1, Transpose: 1 }],
    ["of aᵀ and b", [B, B, { transA: 1 }], { MatMul: 1, Transpose: 1 }],
    [
      "of aᵀ and bᵀ with alpha",
      [B, A, { transA: 1, transB: 1, alpha: { float: 2 } }],
      { MatMul: 1, Transpose: 2, Mul: 1 },
    ],
  ])("%s becomes standard operators", async (_, drawn, counts) => {
    expect((await split(...drawn)).counts).toEqual(counts);
  });

  it("whose batch axes are moved stays", async () => {
    const { counts } = await split(["batch", "sequence", 4], ["sequence", 4, "batch"], { transBatchA: 1 });
    expect(counts).toEqual({ FusedMatMul: 1 });
  });
});
