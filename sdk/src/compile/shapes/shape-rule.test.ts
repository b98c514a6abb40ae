import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { compareWithOnnxruntime } from "#test/oracles/shape-oracle.ts";
import { inferShapes } from "./infer-shapes.ts";

/**
 * A random operand for the broadcast shape [b, 3, s], as a pair `[axes, isOne]`. The operand has the last `axes` axes
 * of this shape. `isOne` says for each axis whether its size is 1 instead.
 */
const operand = fc.tuple(fc.nat(3), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }));
const operands = fc.array(operand, { minLength: 3, maxLength: 3 });

describe("broadcast", () => {
  it("agrees with onnxruntime on all compatible shapes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operands, { minLength: 20, maxLength: 20 }), async (all) => {
        const draw = (s: Sketch) => {
          for (const shapes of all) {
            const inputs = shapes.map(([axes, isOne]) => {
              const shape = ["b", 3, "s"].map((dim, i) => (isOne[i] ? 1 : dim));
              return s.input("x", shape.slice(3 - axes));
            });
            s.op("Max", inputs);
          }
        };
        expect(await compareWithOnnxruntime(draw)).toEqual({ wrong: [], unknown: [] });
      }),
      seeded(15),
    );
  });

  /**
   * Adds inputs of these shapes. Returns the inferred shape of the sum, followed by the inferred shapes of the inputs.
   */
  function sum(...shapes: (string | number)[][]): string[] {
    const s = new Sketch();
    const inputs = shapes.map((shape, i) => s.input(`x${i}`, shape));
    const total = inputs.reduce((left, right) => s.op("Add", [left, right]));
    inferShapes(s.graph);
    return [total, ...inputs].map(({ shape }) => `[${shape}]`);
  }

  it("prefers a number to a symbol", () => {
    expect(sum(["b", "s"], [8])[0]).toBe("[b,8]");
  });

  it("treats symbols that are added as equal, in all shapes", () => {
    expect(sum(["b", "s"], ["batch", "s"])).toEqual(["[b,s]", "[b,s]", "[b,s]"]);
    expect(sum(["a"], ["b"], ["c"], ["a"])).toEqual(Array(5).fill("[a]"));
  });

  it("prefers the shorter formula", () => {
    const s = new Sketch();
    const clamped = s.op("Slice", [s.random([1, 9]), [0], s.op("Shape", [s.input("ids", ["s"])]), [1]]);
    const sliced = s.op("Slice", [s.input("x", [1, "n"]), [0], [4], [1]]);
    const sums = [s.op("Add", [clamped, sliced]), s.op("Add", [sliced, clamped])];
    inferShapes(s.graph);
    expect(`${sliced.shape}`).toBe("1,min(4,n)");
    expect(sums.map(({ shape }) => `${shape}`)).toEqual(["1,s", "1,s"]);
  });
});
