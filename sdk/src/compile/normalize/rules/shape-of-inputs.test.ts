import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";

describe("sizes of a computed value", () => {
  /**
   * Adds the input `b` to a value that is computed from the input `a`. Shape inference assumes that `a` and `b` have
   * the same length, but at run time `a` may have only one element.
   */
  const added = (names: readonly ("a" | "b")[]) => (s: Sketch) => {
    const inputs = new Map(names.map((name) => [name, s.input(name, [`length of ${name}`])]));
    const computed = s.op("Relu", [inputs.get("a")]);
    s.output(s.op("Add", [computed, inputs.get("b")]), "sum");
    s.output(s.op("Shape", [computed]), "sizes");
  };

  it.each([[["a", "b"] as const], [["b", "a"] as const]])(
    "come from an input that the value is computed from: inputs %j",
    async (names) => {
      const { graph } = await rewritten(added(names), {
        optimize: only(),
        sizes: [
          { "length of a": 1, "length of b": 4 },
          { "length of a": 4, "length of b": 4 },
        ],
      });
      const sources = [...graph.nodes].filter((node) => node.is("Shape")).map(({ inputs }) => inputs[0]?.name);
      expect(sources).not.toContain("b");
    },
  );

  it("come from the input if they are multiples of its sizes", async () => {
    const { graph } = await rewritten(
      (s) => {
        const x = s.op("Relu", [s.input("x", ["batch", "sequence"])]);
        s.output(s.op("Shape", [s.op("Concat", [x, x, x], { axis: 1 })]));
      },
      { optimize: only() },
    );
    expect([...graph.nodes].some((node) => node.is("Relu"))).toBe(false);
  });

  it("come from the input, so that the value need not be computed", async () => {
    const { graph } = await rewritten(
      (s) => s.output(s.op("Shape", [s.op("Relu", [s.input("x", ["batch", "sequence", 4])])])),
      { optimize: only() },
    );
    expect([...graph.nodes].some((node) => node.is("Relu"))).toBe(false);
  });
});
