import { describe, expect, it } from "vitest";
import {
  type AttentionParts,
  dense,
  drawAttention,
  HEADS,
  HIDDEN,
  merge,
  SIZE,
  split,
} from "#test/fixtures/draw-attention.ts";
import { CAST, type Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";

const input = (s: Sketch, name = "x") => s.input(name, ["batch", "sequence", HIDDEN]);
const fuse = (parts: AttentionParts, opset?: number) =>
  rewritten((s) => s.output(drawAttention(s, input(s), parts)), opset === undefined ? {} : { opset });
const sizeOf = (s: Sketch, x: Value, axis: number) => s.op("Gather", [s.op("Shape", [x]), s.index(axis)], { axis: 0 });
/** Computes a Reshape target from the sizes of x, as in traced models. */
const target = (s: Sketch, ...parts: SketchOperand[]) =>
  s.op(
    "Concat",
    parts.map((part) => (Array.isArray(part) ? part : s.op("Unsqueeze", [part, [0]]))),
    { axis: 0 },
  );

describe("projections that other nodes read too", () => {
  const withReader = (read: (s: Sketch, q: Value) => Value) =>
    rewritten((s) => {
      const x = input(s);
      const [q, k, v] = [dense(s, x), dense(s, x), dense(s, x)];
      const heads = [split(s, q), split(s, k), split(s, v)] as const;
      s.output(drawAttention(s, x, { heads: () => heads }));
      s.output(read(s, heads[0]), "also");
    });

  it("are inputs of MultiHeadAttention, so that they are computed once", async () => {
    const { counts } = await withReader((s, q) => s.op("Tanh", [q]));
    expect(counts).toMatchObject({ MatMul: 3, MultiHeadAttention: 1 });
    expect(counts).not.toHaveProperty("Attention");
  });

  it("become a part of Attention if only their shape is read", async () => {
    const { counts } = await withReader((s, q) => s.op("Shape", [q]));
    expect(counts).toMatchObject({ Attention: 1 });
    expect(counts).not.toHaveProperty("MatMul");
  });
});

describe("attention of one tensor", () => {
  it.each<[string, AttentionParts]>([
    ["with separate projections", {}],
    [
      "with one projection, split",
      {
        heads: (s, x) => {
          const parts = s.node("Split", [dense(s, x, 3 * HIDDEN)], { axis: -1 }, { outputs: ["q", "k", "v"] }).outputs;
          return parts.map((part) => split(s, part as Value)) as unknown as [Value, Value, Value];
        },
      },
    ],
    [
      "with one projection, sliced",
      {
        heads: (s, x) => {
          const qkv = s.op("Transpose", [s.op("Reshape", [dense(s, x, 3 * HIDDEN), [0, 0, 3, HEADS, SIZE]])], {
            perm: [2, 0, 3, 1, 4],
          });
          const part = (i: number) => s.op("Squeeze", [s.op("Slice", [qkv, [i], [i + 1], [0]]), [0]]);
          return [part(0), part(1), part(2)];
        },
      },
    ],
    [
      "with one projection, indexed",
      {
        heads: (s, x) => {
          const qkv = s.op("Reshape", [dense(s, x, 3 * HIDDEN), [0, 0, 3, HEADS, SIZE]]);
          const part = (i: number) =>
            s.op("Transpose", [s.op("Gather", [qkv, s.index(i)], { axis: 2 })], { perm: [0, 2, 1, 3] });
          return [part(0), part(1), part(2)];
        },
      },
    ],
    [
      "with computed Reshape targets",
      {
        heads: (s, x) => {
          const of = (y: Value) =>
            s.op("Transpose", [s.op("Reshape", [y, target(s, sizeOf(s, y, 0), sizeOf(s, y, 1), [HEADS], [SIZE])])], {
              perm: [0, 2, 1, 3],
            });
          return [of(dense(s, x)), of(dense(s, x)), of(dense(s, x))];
        },
        merged: (s, context) =>
          s.op("Reshape", [
            s.op("Transpose", [context], { perm: [0, 2, 1, 3] }),
            target(s, sizeOf(s, context, 0), sizeOf(s, context, 2), [HIDDEN]),
          ]),
      },
    ],
    [
      "without biases",
      { heads: (s, x) => [0, 1, 2].map(() => split(s, s.op("MatMul", [x, s.random([HIDDEN, HIDDEN])]))) as never },
    ],
    ["with scaled queries", { scores: (s, q, k) => s.op("MatMul", [s.op("Div", [q, Math.sqrt(SIZE)]), k]) }],
    [
      "with half of the scale on queries and keys each",
      { scores: (s, q, k) => s.op("MatMul", [s.op("Mul", [q, SIZE ** -0.25]), s.op("Mul", [k, SIZE ** -0.25])]) },
    ],
    [
      "with the scale as the first factor",
      { scores: (s, q, k) => s.op("Mul", [SIZE ** -0.5, s.op("MatMul", [q, k])]) },
    ],
    [
      "with keys split and transposed by one Transpose",
      {
        heads: (s, x) => [
          split(s, dense(s, x)),
          s.op("Reshape", [dense(s, x), [0, 0, HEADS, SIZE]]),
          split(s, dense(s, x)),
        ],
        transposed: (s, k) => s.op("Transpose", [k], { perm: [0, 2, 3, 1] }),
      },
    ],
    [
      "with keys transposed on three axes",
      {
        transposed: (s, k) => {
          const [rows, batch, heads, sequence] = [
            s.op("Reshape", [k, target(s, [-1], sizeOf(s, k, 2), [SIZE])]),
            ...[0, 1, 2].map((axis) => sizeOf(s, k, axis)),
          ] as [Value, Value, Value, Value];
          return s.op("Reshape", [
            s.op("Transpose", [rows], { perm: [0, 2, 1] }),
            target(s, batch, heads, [SIZE], sequence),
          ]);
        },
      },
    ],
    [
      "with scores computed as keys · queriesᵀ and transposed",
      {
        transposed: (_, k) => k,
        scores: (s, q, k) =>
          s.op("Div", [
            s.op("Transpose", [s.op("MatMul", [k, s.op("Transpose", [q], { perm: [0, 1, 3, 2] })])], {
              perm: [0, 1, 3, 2],
            }),
            Math.sqrt(SIZE),
          ]),
      },
    ],
    ["with a guard against NaN", { probabilities: (s, p) => s.op("Where", [s.op("IsNaN", [p]), 0, p]) }],
    [
      "as Einsum",
      {
        transposed: (_, k) => k,
        scores: (s, q, k) => s.op("Div", [s.op("Einsum", [q, k], { equation: "bhqd,bhkd->bhqk" }), Math.sqrt(SIZE)]),
      },
    ],
  ])("%s becomes Attention", async (_, parts) => {
    const { counts, graph } = await fuse(parts);
    expect(counts).toEqual({ Attention: 1 });
    const [node] = graph.nodes;
    expect(node?.attributes).toEqual({ num_heads: { kind: "int", value: HEADS } });
  });

  it("with batch and heads in one axis becomes Attention", async () => {
    const { counts } = await rewritten((s) => {
      const x = input(s);
      const rows = (y: Value) =>
        s.op(
          "Reshape",
          [split(s, y), [-1, 0, SIZE]].with(1, target(s, [-1], sizeOf(s, x, 1), [SIZE])) as SketchOperand[],
        );
      const [q, k, v] = [rows(s.op("Mul", [dense(s, x), SIZE ** -0.5])), rows(dense(s, x)), rows(dense(s, x))];
      const scores = s.op("MatMul", [q, s.op("Transpose", [k], { perm: [0, 2, 1] })]);
      const context = s.op("MatMul", [s.op("Softmax", [scores], { axis: -1 }), v]);
      const back = s.op("Reshape", [context, target(s, sizeOf(s, x, 0), [HEADS], sizeOf(s, x, 1), [SIZE])]);
      s.output(merge(s, back));
    });
    expect(counts).toEqual({ Attention: 1 });
  });

  it.each([
    ["one head", 1, HIDDEN],
    ["heads wider than the tensor", HEADS, 6],
    ["heads narrower than the tensor", HEADS, 3],
  ])("with %s becomes Attention", async (_, heads, size) => {
    const { counts, graph } = await rewritten((s) => {
      const x = input(s);
      const part = () => split(s, dense(s, x, heads * size), heads, size);
      s.output(
        drawAttention(s, x, {
          heads: () => [part(), part(), part()],
          scores: (_, q, k) => s.op("Div", [s.op("MatMul", [q, k]), Math.sqrt(size)]),
        }),
      );
    });
    expect(counts).toEqual({ Attention: 1 });
    expect([...graph.nodes][0]?.int("num_heads")).toBe(heads);
  });

  it("with another head size for values becomes Attention", async () => {
    const { counts, graph } = await fuse({
      heads: (s, x) => [split(s, dense(s, x)), split(s, dense(s, x)), split(s, dense(s, x, 6), HEADS, 3)],
    });
    expect(counts).toEqual({ Attention: 1 });
    expect([...graph.nodes][0]?.ints("qkv_hidden_sizes")).toEqual([HIDDEN, HIDDEN, 6]);
  });

  it("without a scale becomes Attention with scale 1", async () => {
    const { graph } = await fuse({ scores: (s, q, k) => s.op("MatMul", [q, k]) });
    expect([...graph.nodes].map((node) => [node.opType, node.float("scale")])).toEqual([["Attention", 1]]);
  });

  it("of opset 23 becomes Attention", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = input(s);
        const [q, k, v] = [split(s, dense(s, x)), split(s, dense(s, x)), split(s, dense(s, x))];
        const m = s.input("attention_mask", ["batch", "sequence"], "bool");
        const mask = s.op("Expand", [s.op("Unsqueeze", [m, [1, 2]]), target(s, [1], [1], sizeOf(s, x, 1), [1])]);
        s.output(merge(s, s.op("Attention", [q, k, v, mask])));
      },
      {
        opset: 23,
        given: ({ batch = 0, sequence = 0 }) => ({
          attention_mask: Array.from({ length: batch * sequence }, (_, i) => (i % sequence === 1 ? 0 : 1)),
        }),
      },
    );
    expect(counts).toEqual({ Attention: 1, Cast: 1 });
  });

  it("of opset 23 on heads that are not split becomes Attention", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = input(s);
        const settings = { q_num_heads: HEADS, kv_num_heads: HEADS };
        s.output(s.op("Attention", [dense(s, x), dense(s, x), dense(s, x)], settings));
      },
      { opset: 23 },
    );
    expect(counts).toEqual({ Attention: 1 });
  });

  it("of opset 23 returns 0 for a query without any key", async () => {
    const { counts } = await rewritten(
      (s) => {
        const x = input(s);
        const positions = s.op("Range", [s.index(0), s.op("Squeeze", [sizeOf(s, x, 1)]), s.index(1)]);
        const causal = s.op("LessOrEqual", [s.op("Unsqueeze", [positions, [0]]), s.op("Unsqueeze", [positions, [1]])]);
        const padding = s.op("Unsqueeze", [s.input("attention_mask", ["batch", "sequence"], "bool"), [1, 2]]);
        const [q, k, v] = [split(s, dense(s, x)), split(s, dense(s, x)), split(s, dense(s, x))];
        s.output(merge(s, s.op("Attention", [q, k, v, s.op("And", [causal, padding])])));
      },
      {
        opset: 23,
        given: ({ batch = 0, sequence = 0 }) => ({
          attention_mask: Array.from({ length: batch * sequence }, (_, i) => (i % sequence < 2 ? 0 : 1)),
        }),
      },
    );
    expect(counts).toMatchObject({ Attention: 1, IsNaN: 1 });
  });
});

describe("attention on [batch · heads, sequence, size]", () => {
  const folded = (s: Sketch, x: Value) =>
    s.op("Reshape", [split(s, dense(s, x)), target(s, [-1], sizeOf(s, x, 1), [SIZE])]);
  const lengthOf = (s: Sketch, scores: Value) => sizeOf(s, scores, -1);
  const asHeads = (s: Sketch, scores: Value) =>
    s.op("Reshape", [scores, target(s, [-1], [HEADS], lengthOf(s, scores), lengthOf(s, scores))]);
  const asRows = (s: Sketch, scores: Value) =>
    s.op("Reshape", [scores, target(s, [-1], lengthOf(s, scores), lengthOf(s, scores))]);
  const parts: AttentionParts = {
    heads: (s, x) => [folded(s, x), folded(s, x), folded(s, x)],
    transposed: (s, k) => s.op("Transpose", [k], { perm: [0, 2, 1] }),
    merged: (s, c) => merge(s, s.op("Reshape", [c, target(s, [-1], [HEADS], sizeOf(s, c, 1), [SIZE])])),
  };

  it("with the softmax on [batch, heads, sequence, sequence] becomes Attention, and nothing reads the scores", async () => {
    const { counts } = await fuse({ ...parts, masked: asHeads, probabilities: asRows });
    expect(counts).toEqual({ Attention: 1 });
  });

  it("with a bias on each axis of heads becomes Attention with the sum of the biases", async () => {
    const { counts } = await rewritten((s) => {
      const x = input(s);
      const [a, b] = [folded(s, x), folded(s, x)];
      // Biases that depend on the text, as DeBERTa's relative positions do.
      const ofRows = s.op("Tanh", [s.op("MatMul", [a, s.op("Transpose", [b], { perm: [0, 2, 1] })])]);
      const causal = s.op("Trilu", [s.op("Mul", [s.op("Softmax", [asHeads(s, ofRows)], { axis: -1 }), -20_000])], {
        upper: 1,
      });
      s.output(
        drawAttention(s, x, {
          ...parts,
          masked: (_, scores) => s.op("Add", [asHeads(s, s.op("Add", [scores, ofRows])), causal]),
          probabilities: asRows,
        }),
      );
    });
    expect(counts["Attention"]).toBe(1);
  });

  it("with a Reshape after the softmax that moves keys is not fused, and says so", async () => {
    const { counts, why } = await fuse({
      ...parts,
      masked: asHeads,
      probabilities: (s, p) =>
        asRows(s, s.op("Reshape", [p, target(s, [-1], lengthOf(s, p), [HEADS], lengthOf(s, p))])),
      merged: (s, c) => s.op("Tanh", [c]),
    });
    expect(counts["Attention"]).toBeUndefined();
    expect(why("Attention").join()).toMatch(/Reshape changes the last two axes|share an axis/);
  });
});

describe("attention of float16 heads with a float32 softmax", () => {
  const half = (s: Sketch, value: Value) => s.op("Cast", [value], { to: CAST.float16 });
  const whole = (s: Sketch, value: Value) => s.op("Cast", [value], { to: CAST.float32 });
  // Fused attention rounds the output to float16: one unit below 2 is 2⁻¹⁰.
  const tolerance = 2 ** -10;

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["heads", (s, x) => whole(s, split(s, half(s, dense(s, x))))],
    ["linear layers", (s, x) => split(s, whole(s, half(s, dense(s, x))))],
  ])("and cast %s of values becomes one operator in float16", async (_, values) => {
    const draw = (s: Sketch) => {
      const x = input(s);
      const heads = () => [split(s, half(s, dense(s, x))), split(s, half(s, dense(s, x))), values(s, x)] as const;
      const scores = (_: Sketch, q: Value, keys: Value) => whole(s, s.op("MatMul", [q, keys]));
      s.output(drawAttention(s, x, { heads, scores }));
    };
    const { counts, graph } = await rewritten(draw, { tolerance });
    expect(counts).toMatchObject({ MultiHeadAttention: 1 });
    const fused = [...graph.nodes].find((node) => node.is("MultiHeadAttention", MICROSOFT));
    expect(fused?.inputs.slice(0, 3).map((each) => each?.dtype)).toEqual(["float16", "float16", "float16"]);
  });
});

describe("attention whose heads are not merged", () => {
  it.each<[string, AttentionParts]>([
    [
      "but moved in another way",
      { merged: (s, c) => s.op("Reshape", [s.op("Transpose", [c], { perm: [0, 2, 3, 1] }), [0, 0, -1]]) },
    ],
    ["but added to other heads", { merged: (s, c) => merge(s, s.op("Add", [c, s.random([HEADS, 1, SIZE])])) }],
    [
      "but joined with other heads, as in ConvBERT",
      {
        merged: (s, c) => {
          const heads = s.op("Transpose", [c], { perm: [0, 2, 1, 3] });
          return s.op("Reshape", [s.op("Concat", [heads, s.op("Tanh", [heads])], { axis: 2 }), [0, 0, -1]]);
        },
      },
    ],
  ])("%s becomes Attention, whose output is split again", async (_, parts) => {
    const { counts } = await fuse(parts);
    expect(counts["Attention"]).toBe(1);
    expect(counts["Softmax"]).toBeUndefined();
  });

  it("only for one of its readers becomes Attention", async () => {
    const { counts } = await fuse({
      merged: (s, c) => {
        s.output(s.op("Tanh", [c]), "heads");
        return merge(s, c);
      },
    });
    expect(counts).toMatchObject({ Attention: 1, Tanh: 1 });
  });
});

describe("attention is not fused", () => {
  it.each<[string, AttentionParts, string]>([
    ["over another axis", { softmax: (s, scores) => s.op("Softmax", [scores], { axis: 2 }) }, "not over the last axis"],
    ["after another softmax", { masked: (s, scores) => s.op("Softmax", [scores], { axis: -1 }) }, "Softmax is between"],
    [
      "with heads and batch on one axis, if the heads are not merged",
      {
        heads: (s, x) => {
          const folded = () => s.op("Reshape", [split(s, dense(s, x)), target(s, [-1], sizeOf(s, x, 1), [SIZE])]);
          return [folded(), folded(), folded()];
        },
        transposed: (s, k) => s.op("Transpose", [k], { perm: [0, 2, 1] }),
        merged: (s, c) => s.op("Tanh", [c]),
      },
      "share an axis with the batch",
    ],
    [
      "with scaled values",
      { heads: (s, x) => [split(s, dense(s, x)), split(s, dense(s, x)), s.op("Mul", [split(s, dense(s, x)), 2])] },
      "values are multiplied by a constant",
    ],
    [
      "with queries that are not split into heads",
      { heads: (s, x) => [s.op("Tanh", [split(s, dense(s, x))]), split(s, dense(s, x)), split(s, dense(s, x))] },
      "queries are not split into heads",
    ],
    [
      "with scores scaled by a tensor",
      { masked: (s, scores) => s.op("Mul", [scores, s.input("gain", [1, HEADS, 1, 1])]) },
      "Mul combines the scores with gain",
    ],
    ["with capped scores", { masked: (s, scores) => s.op("Tanh", [scores]) }, "Tanh is between"],
  ])("%s", async (_, parts, reason) => {
    const { counts, why } = await fuse(parts);
    expect(counts["Softmax"]).toBeGreaterThan(0);
    expect(why("Attention").join("\n")).toContain(reason);
  });

  it("if the softmax is over all axes after the first, the default before opset 13", async () => {
    const softmax = { softmax: (s: Sketch, scores: Value) => s.op("Softmax", [scores]) };
    expect((await fuse(softmax, 12)).why("Attention").join()).toContain("not over the last axis");
    expect((await fuse(softmax, 13)).counts).toEqual({ Attention: 1 });
  });

  it("if queries and keys are float16 and values are computed in float32", async () => {
    const half = (s: Sketch, x: Value) => s.op("Cast", [split(s, dense(s, x))], { to: CAST.float16 });
    const draw = (s: Sketch) => {
      const x = input(s);
      const scores = (_: Sketch, q: Value, keys: Value) =>
        s.op("Cast", [s.op("MatMul", [q, keys])], { to: CAST.float32 });
      const heads = () => [half(s, x), half(s, x), split(s, dense(s, x))] as const;
      s.output(drawAttention(s, x, { heads, scores }));
    };
    // One float16 unit below 1 is 2⁻¹¹.
    const { counts, why } = await rewritten(draw, { tolerance: 2 ** -11 });
    expect(counts["Softmax"]).toBe(1);
    expect(why("Attention").join()).toContain("have different types");
  });

  it("if its probabilities are also an output", async () => {
    const { counts, why } = await fuse({
      probabilities: (s, p) => {
        s.output(p, "probabilities");
        return p;
      },
    });
    expect(counts["Softmax"]).toBe(1);
    expect(why("Attention").join()).toContain("scores or probabilities are also read");
  });
});
