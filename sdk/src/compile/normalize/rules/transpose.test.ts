import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const swapped = (s: Sketch, x: Value, perm = [0, 2, 1]) => s.op("Transpose", [x], { perm });

/** Draws operators between Transposes of x and y, which have the shape [batch, sequence, 4]. */
const canonical = (draw: (s: Sketch, x: Value, y: Value) => Value) =>
  rewritten(
    (s) => {
      const [x, y] = ["x", "y"].map((name) => s.input(name, ["batch", "sequence", 4])) as [Value, Value];
      s.output(swapped(s, draw(s, swapped(s, x), swapped(s, y))));
    },
    { optimize: only() },
  );

describe("elementwise operators between Transposes", () => {
  it("need no Transposes", async () => {
    const { counts } = await canonical((s, x, y) => {
      const sum = s.op("Add", [s.op("Tanh", [x]), y]);
      return s.op("Mul", [s.op("Mul", [0.5, sum]), s.op("Sigmoid", [sum])]);
    });
    expect(counts).toEqual({ Tanh: 1, Add: 1, Mul: 2, Sigmoid: 1 });
  });

  it.each<[string, (s: Sketch, x: Value, y: Value) => Value]>([
    ["with a constant for each channel", (s, x) => s.op("Tanh", [s.op("Add", [x, s.random([4, 1])])])],
    ["of a value that is not transposed", (s, x) => s.op("Add", [x, s.input("z", ["batch", 4, "sequence"])])],
    ["with another operator among them", (s, x) => s.op("Add", [x, s.op("Softmax", [x], { axis: -1 })])],
    [
      "whose result another node reads",
      (s, x) => {
        const sum = s.op("Tanh", [x]);
        s.output(s.op("Exp", [sum]), "read");
        return sum;
      },
    ],
    [
      "whose result is an output",
      (s, x) => {
        const sum = s.op("Tanh", [x]);
        s.output(sum, "sum");
        return sum;
      },
    ],
  ])("keep them %s", async (_, draw) => {
    expect((await canonical(draw)).counts["Transpose"]).toBeGreaterThanOrEqual(2);
  });

  it("keep Transposes that do not undo each other", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", 3, 4]);
        s.output(swapped(s, s.op("Tanh", [swapped(s, x, [1, 2, 0])]), [1, 2, 0]));
      },
      { optimize: only() },
    );
    expect(counts).toEqual({ Transpose: 2, Tanh: 1 });
  });
});
