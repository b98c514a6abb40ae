import { expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { int64s, numbersOf, type Tensor, tensor } from "../../graph/tensor.ts";

const int32s = (...values: number[]) => tensor("int32", [values.length], Int32Array.from(values));

it.each<[string, (...values: number[]) => Tensor]>([
  ["int64", int64s],
  ["int32", int32s],
])("the last axis of a Slice becomes −1, in the type of its bounds: %s", async (dtype, of) => {
  const { graph } = await rewritten((s) => {
    const bounds = [of(1), of(3), of(2)].map((bound) => s.constant(bound));
    s.output(s.op("Slice", [s.input("x", ["batch", "sequence", 8]), ...bounds]));
  });
  const axes = graph.sorted()[0]?.inputs[3]?.constant;
  expect(axes?.dtype).toBe(dtype);
  expect(axes && numbersOf(axes)).toEqual([-1]);
});

interface Drawing {
  readonly size?: number | "sequence";
  readonly split?: number | readonly number[];
  readonly at?: readonly number[];
  readonly axis?: number;
  readonly length?: boolean;
}

const parts = ({ size = 10, split = 5, at = [0, 1], axis = -1, length = false }: Drawing, opset = 18) =>
  rewritten(
    (s: Sketch) => {
      const x = s.input("x", ["batch", size]);
      const sizes = typeof split === "number" ? s.index(split) : split;
      const sequence = s.op("SplitToSequence", [x, sizes], { axis, keepdims: 1 });
      for (const [i, index] of at.entries()) s.output(s.op("SequenceAt", [sequence, s.index(index)]), `part${i}`);
      if (length) s.output(s.op("SequenceLength", [sequence]), "length");
    },
    { opset, optimize: only() },
  );

it.each<[string, Drawing]>([
  ["of equal sizes", {}],
  ["of which the last is smaller", { size: 11, at: [0, 1, 2] }],
  ["of given sizes", { size: 10, split: [3, 1, 6], at: [2, 0] }],
  ["on the first axis of two", { size: 10, axis: 1, split: [4, 6] }],
  ["counted from the end", { at: [-1, -2] }],
])("parts %s, taken from a sequence, become outputs of one Split", async (_, drawing) => {
  expect((await parts(drawing)).counts).toEqual({ Split: 1 });
});

it.each<[string, Drawing, number]>([
  ["along an axis of unknown size", { size: "sequence", split: 2 }, 18],
  ["whose sequence others read too", { length: true }, 18],
  ["in an opset whose Split has its sizes as an attribute", {}, 12],
])("parts %s stay as they are", async (_, drawing, opset) => {
  expect((await parts(drawing, opset)).counts).toMatchObject({ SplitToSequence: 1, SequenceAt: 2 });
});
