import { expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";

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
