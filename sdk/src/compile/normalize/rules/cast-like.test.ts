import { describe, expect, it } from "vitest";
import { only, rewritten } from "#test/oracles/rewritten.ts";

describe("CastLike", () => {
  it("of a value becomes Cast", async () => {
    const { counts } = await rewritten(
      (s) => s.output(s.op("CastLike", [s.input("mask", ["batch", "sequence"], "int64"), s.input("x", ["batch", 4])])),
      { optimize: only() },
    );
    expect(counts).toEqual({ Cast: 1 });
  });

  it("of a constant is folded, also if only a computed value has the type", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", "sequence", 4]);
        const width = s.op("Sqrt", [s.op("CastLike", [s.index(4), x])]);
        s.output(s.op("Div", [s.op("Tanh", [x]), width]));
      },
      { optimize: only(), opset: 18 },
    );
    expect(counts).toEqual({ Tanh: 1, Div: 1 });
  });
});
