import { describe, expect, it } from "vitest";
import { drawAttention, HIDDEN, paddedRows } from "#test/fixtures/draw-attention.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { paddingMask } from "./padding-mask.ts";

const HIDDEN_SCORE = -10_000;

const padding = (s: Sketch, mask: Value) =>
  s.op("Mul", [
    s.op("Sub", [1, s.op("Cast", [s.op("Unsqueeze", [mask, [1, 2]])], { to: CAST.float32 })]),
    HIDDEN_SCORE,
  ]);
const lengthOf = (s: Sketch, x: Value) => s.op("Gather", [s.op("Shape", [x]), s.index(1)]);
const range = (s: Sketch, x: Value) => s.op("Range", [s.index(0), lengthOf(s, x), s.index(1)]);
/** Draws a mask that is 0 where a condition holds. Elsewhere, it is a number that hides a key. */
const filled = (s: Sketch, condition: Value) => s.op("Where", [condition, 0, HIDDEN_SCORE]);
/** Draws a mask that is 0 for positions below the length of `other`, and hides the keys at later positions. */
const within = (s: Sketch, keys: Value, other: Value) =>
  s.op("Unsqueeze", [filled(s, s.op("Less", [range(s, keys), lengthOf(s, other)])), [0, 1, 2]]);
const other = (s: Sketch) => s.input("other", ["batch", "other_sequence", HIDDEN]);

type Draw = (s: Sketch, mask: Value) => Value;
type Sizes = Readonly<Record<string, number>>;
type Case = [name: string, batch: number | string, draw: Draw, sizes: readonly Sizes[]];

const cases: Case[] = [
  [
    "the first text's padding, for both texts",
    2,
    (s, mask) => s.op("Slice", [padding(s, mask), [0], [1], [0]]),
    [{ batch: 2, sequence: 5 }],
  ],
  [
    "padding and an attention window of 667, computed in floats and scaled to 1",
    "batch",
    (s, mask) => {
      const at = s.op("Cast", [range(s, mask)], { to: CAST.float32 });
      const apart = s.op("Abs", [s.op("Sub", [s.op("Unsqueeze", [at, [1]]), s.op("Unsqueeze", [at, [0]])])]);
      const far = s.op("Greater", [s.op("Mul", [apart, 0.0015]), 1]);
      return s.op("Min", [padding(s, mask), s.op("Where", [far, HIDDEN_SCORE, 0])]);
    },
    [{ batch: 2, sequence: 700 }],
  ],
  [
    "padding, and the keys after the length of another input",
    "batch",
    (s, mask) => s.op("Min", [padding(s, mask), within(s, mask, other(s))]),
    [
      { batch: 3, sequence: 5, other_sequence: 3 },
      { batch: 3, sequence: 5, other_sequence: 9 },
    ],
  ],
];

describe("a mask that differs from padding only at some sizes", () => {
  it.each(cases)("is refused: %s", async (_, batch, draw) => {
    const s = new Sketch();
    const value = draw(s, s.input("attention_mask", [batch, "sequence"], "int64"));
    s.output(value);
    inferShapes(s.graph);
    expect((await paddingMask.answer(s.graph, value)).kind).toBe("refused");
  });

  it.each(cases)("still computes the same: %s", async (_, batch, draw, sizes) => {
    const { graph } = await rewritten(
      (s) => {
        const x = s.input("x", [batch, "sequence", HIDDEN]);
        const bias = draw(s, s.input("attention_mask", [batch, "sequence"], "int64"));
        s.output(drawAttention(s, x, { masked: (_, scores) => s.op("Add", [scores, bias]) }));
      },
      // Reverses the rows, so that the first text has padding.
      { sizes, given: (each) => ({ attention_mask: paddedRows(each).toReversed() }) },
    );
    expect([...graph.nodes].find(({ opType }) => opType === "Attention")?.inputs[3]).toBeUndefined();
  });

  it("is refused if it hides keys only when there are more keys than queries", async () => {
    const { counts } = await rewritten(
      (s) => {
        const [x, z] = [s.input("x", ["batch", "sequence", HIDDEN]), other(s)];
        const heads = (y: Value) =>
          s.op(
            "Transpose",
            [s.op("Reshape", [s.op("MatMul", [y, s.random([HIDDEN, HIDDEN])]), [0, 0, 2, HIDDEN / 2]])],
            { perm: [0, 2, 1, 3] },
          );
        s.output(
          drawAttention(s, x, {
            heads: () => [heads(x), heads(z), heads(z)],
            masked: (_, scores) => s.op("Add", [scores, within(s, z, x)]),
          }),
        );
      },
      {
        sizes: [
          { batch: 2, sequence: 3, other_sequence: 7 },
          { batch: 2, sequence: 5, other_sequence: 5 },
        ],
      },
    );
    expect(counts["Where"]).toBe(1);
  });
});
