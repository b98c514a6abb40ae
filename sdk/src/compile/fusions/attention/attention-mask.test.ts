import { describe, expect, it } from "vitest";
import {
  type AttentionParts,
  dense,
  drawAttention,
  HEADS,
  HIDDEN,
  merge,
  paddedRows,
  split,
} from "#test/fixtures/draw-attention.ts";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const LOWEST = -3.4028234663852886e38;

type Draw = (s: Sketch, mask: Value) => AttentionParts;

/** Draws self-attention with a tokenizer's attention mask [batch, sequence], and fuses it. */
const fuse = (draw: Draw) =>
  rewritten(
    (s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      s.output(drawAttention(s, x, draw(s, s.input("attention_mask", ["batch", "sequence"], "int64"))));
    },
    {
      sizes: [
        { batch: 3, sequence: 5, heads: HEADS },
        { batch: 2, sequence: 8, heads: HEADS },
      ],
      given: (sizes) => ({ attention_mask: paddedRows(sizes) }),
    },
  );

const condition = (s: Sketch, mask: Value) => s.op("Cast", [s.op("Unsqueeze", [mask, [1, 2]])], { to: CAST.bool });
const additive = (s: Sketch, mask: Value, fill = LOWEST) =>
  s.op("Mul", [s.op("Sub", [1, s.op("Cast", [s.op("Unsqueeze", [mask, [1, 2]])], { to: CAST.float32 })]), fill]);
/** Draws a bias [1, heads, sequence, sequence] that is looked up by relative position. */
const relative = (s: Sketch, mask: Value) => {
  const length = s.op("Gather", [s.op("Shape", [mask]), s.index(1)]);
  const positions = s.op("Range", [s.index(0), length, s.index(1)]);
  const distance = s.op("Abs", [
    s.op("Sub", [s.op("Unsqueeze", [positions, [0]]), s.op("Unsqueeze", [positions, [1]])]),
  ]);
  const bias = s.op("Gather", [s.random([16, HEADS]), distance]);
  return s.op("Unsqueeze", [s.op("Transpose", [bias], { perm: [2, 0, 1] }), [0]]);
};

const nodeOf = ({ graph }: Awaited<ReturnType<typeof fuse>>) =>
  graph.sorted().find(({ opType }) => opType === "Attention");

describe("a padding mask", () => {
  it.each<[string, Draw, number]>([
    ["added", (s, m) => ({ masked: (_, scores) => s.op("Add", [scores, additive(s, m)]) }), LOWEST],
    [
      "added as the first operand",
      (s, m) => ({ masked: (_, scores) => s.op("Add", [additive(s, m), scores]) }),
      LOWEST,
    ],
    [
      "used as a condition",
      (s, m) => ({ masked: (_, scores) => s.op("Where", [condition(s, m), scores, LOWEST]) }),
      LOWEST,
    ],
    [
      "used as a condition, with −∞",
      (s, m) => ({ masked: (_, scores) => s.op("Where", [condition(s, m), scores, -Infinity]) }),
      LOWEST,
    ],
    [
      "whose inverse is used as a condition",
      (s, m) => ({ masked: (_, scores) => s.op("Where", [s.op("Not", [condition(s, m)]), -10_000, scores]) }),
      -10_000,
    ],
    [
      "scaled with the scores",
      (s, m) => ({ masked: (_, scores) => s.op("Div", [s.op("Add", [scores, additive(s, m, -80_000)]), 2]) }),
      -40_000,
    ],
    [
      "added twice",
      (s, m) => ({
        masked: (_, scores) => s.op("Add", [s.op("Add", [scores, additive(s, m, -10_000)]), additive(s, m, -20_000)]),
      }),
      -10_000,
    ],
    [
      "applied again after the softmax",
      (s, m) => ({
        masked: (_, scores) => s.op("Where", [condition(s, m), scores, LOWEST]),
        probabilities: (_, p) => s.op("Where", [condition(s, m), p, 0]),
      }),
      LOWEST,
    ],
    [
      "with a guard against rows without any key",
      (s, m) => ({
        masked: (_, scores) => s.op("Add", [scores, s.op("Where", [condition(s, m), 0, -Infinity])]),
        probabilities: (_, p) => s.op("Where", [s.op("IsNaN", [p]), 0, p]),
      }),
      LOWEST,
    ],
  ])("%s becomes the mask input of the operator", async (_, draw, fill) => {
    const found = await fuse(draw);
    expect(found.counts).toEqual({ Attention: 1, Cast: 1 });
    expect(nodeOf(found)?.float("mask_filter_value")).toBeCloseTo(fill);
    expect(nodeOf(found)?.inputs).toHaveLength(4);
  });
});

describe("a padding mask with batch and heads in one axis", () => {
  it.each<[string, (s: Sketch, scores: Value, mask: Value) => Value]>([
    ["added to reshaped scores", (s, scores, m) => s.op("Add", [scores, additive(s, m)])],
    ["used as a condition", (s, scores, m) => s.op("Where", [condition(s, m), scores, LOWEST])],
  ])("%s becomes the mask input of the operator", async (_, masked) => {
    const found = await fuse((s, m) => {
      const length = s.op("Slice", [s.op("Shape", [m]), [1], [2]]);
      const target = (...parts: (Value | number[])[]) => s.op("Concat", parts, { axis: 0 });
      const rows = (y: Value) => s.op("Reshape", [y, target([-1], length, [HIDDEN / HEADS])]);
      const scale = (HIDDEN / HEADS) ** -0.5;
      return {
        heads: (_, x) => [
          rows(split(s, s.op("Mul", [dense(s, x), scale]))),
          rows(split(s, dense(s, x))),
          rows(split(s, dense(s, x))),
        ],
        transposed: (_, k) => s.op("Transpose", [k], { perm: [0, 2, 1] }),
        scores: (_, q, k) => s.op("MatMul", [q, k]),
        masked: (_, scores) => {
          const four = s.op("Reshape", [scores, target([-1, HEADS], length, length)]);
          return s.op("Reshape", [masked(s, four, m), target([-1], length, length)]);
        },
        merged: (_, context) => merge(s, s.op("Reshape", [context, target([-1, HEADS], length, [HIDDEN / HEADS])])),
      };
    });
    expect(found.counts).toEqual({ Attention: 1, Cast: 1 });
  });
});

describe("a mask whose sizes have other names", () => {
  it("is a padding mask if its sizes must equal those of the scores", async () => {
    const found = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", "sequence", HIDDEN]);
        const mask = s.input("attention_mask", ["texts", "tokens"], "int64");
        const [batch, sequence] = [0, 1].map((axis) => s.op("Gather", [s.op("Shape", [x]), [axis]]));
        const target = s.op("Concat", [batch, [1, 1], sequence], { axis: 0 });
        const bias = s.op("Mul", [
          s.op("Sub", [1, s.op("Cast", [s.op("Reshape", [mask, target])], { to: CAST.float32 })]),
          LOWEST,
        ]);
        s.output(drawAttention(s, x, { masked: (_, scores) => s.op("Add", [scores, bias]) }));
      },
      {
        sizes: [{ batch: 3, sequence: 5, texts: 3, tokens: 5 }],
        given: (sizes) => ({ attention_mask: paddedRows(sizes) }),
      },
    );
    expect(found.counts).toEqual({ Attention: 1, Cast: 1 });
  });
});

describe("one mask for all texts", () => {
  it("becomes a bias", async () => {
    const found = await fuse((s) => ({
      masked: (_, scores) =>
        s.op("Where", [condition(s, s.input("shared", [1, "sequence"], "int64")), scores, -10_000]),
    }));
    expect(nodeOf(found)?.inputs[3]).toBeUndefined();
    expect(nodeOf(found)?.inputs[5]?.shape).toHaveLength(4);
  });
});

describe("a bias on the scores", () => {
  it.each<[string, Draw]>([
    ["by relative position", (s, m) => ({ masked: (_, scores) => s.op("Add", [scores, relative(s, m)]) })],
    [
      "as an input",
      (s) => ({ masked: (_, scores) => s.op("Add", [scores, s.input("bias", ["batch", 1, "sequence", "sequence"])]) }),
    ],
    [
      "as an input, the same for all queries",
      (s) => ({ masked: (_, scores) => s.op("Add", [scores, s.input("bias", ["batch", 1, 1, "sequence"])]) }),
    ],
    [
      "as an input of two axes",
      (s) => ({ masked: (_, scores) => s.op("Add", [scores, s.input("bias", ["sequence", "sequence"])]) }),
    ],
    [
      "as an input of three axes",
      (s) => ({ masked: (_, scores) => s.op("Add", [scores, s.input("bias", [HEADS, "sequence", "sequence"])]) }),
    ],
    [
      "given as a condition",
      (s) => ({
        masked: (_, scores) =>
          s.op("Where", [s.input("seen", ["batch", 1, "sequence", "sequence"], "bool"), scores, -10_000]),
      }),
    ],
    [
      "scaled with the scores",
      (s, m) => ({ masked: (_, scores) => s.op("Mul", [s.op("Add", [scores, relative(s, m)]), 0.5]) }),
    ],
  ])("%s becomes the bias input", async (_, draw) => {
    const found = await fuse(draw);
    expect(found.counts["Softmax"]).toBeUndefined();
    expect(nodeOf(found)?.inputs[3]).toBeUndefined();
    expect(nodeOf(found)?.inputs[5]?.shape).toHaveLength(4);
  });

  it("is separated from a mask in the same sum", async () => {
    const found = await fuse((s, m) => ({
      masked: (_, scores) => s.op("Add", [scores, s.op("Add", [relative(s, m), additive(s, m)])]),
    }));
    expect(nodeOf(found)?.inputs[3]?.dtype).toBe("int32");
    expect(nodeOf(found)?.inputs[5]?.shape).toHaveLength(4);
  });

  it("is added to a second bias", async () => {
    const found = await fuse((s, m) => ({
      masked: (_, scores) =>
        s.op("Add", [s.op("Add", [scores, relative(s, m)]), s.input("bias", [1, HEADS, "sequence", "sequence"])]),
    }));
    expect(found.counts).toMatchObject({ Attention: 1, Add: 1 });
  });
});

describe("an unsupported mask", () => {
  it.each<[string, Draw, string]>([
    [
      "per element of a head",
      (s) => ({ masked: (_, scores) => s.op("Add", [scores, s.input("bias", ["batch", "heads", 1, 1])]) }),
      "is not the number of heads",
    ],
    [
      "a Where with another fill value",
      (s, m) => ({ masked: (_, scores) => s.op("Where", [condition(s, m), scores, 1]) }),
      "by a large negative number",
    ],
    [
      "applied only after the softmax",
      (s, m) => ({ probabilities: (_, p) => s.op("Where", [condition(s, m), p, 0]) }),
      "that are not masked before it",
    ],
    [
      "with a different mask applied after the softmax",
      (s, m) => ({
        masked: (_, scores) => s.op("Add", [scores, additive(s, m)]),
        probabilities: (_, p) => s.op("Where", [s.input("other", ["batch", 1, 1, "sequence"], "bool"), p, 0]),
      }),
      "that are not masked before it",
    ],
  ])("%s is left alone", async (_, draw, reason) => {
    const { counts, why } = await fuse(draw);
    expect(counts["Softmax"]).toBe(1);
    expect(why("Attention").join()).toContain(reason);
  });
});
