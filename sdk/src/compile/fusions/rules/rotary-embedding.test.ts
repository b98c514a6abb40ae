import { describe, expect, it } from "vitest";
import { dense, drawAttention, HEADS, HIDDEN, SIZE, split } from "#test/fixtures/draw-attention.ts";
import { angles, HALF, pairedAngles, range, rotated, rotatedPairs } from "#test/fixtures/draw-rotary.ts";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import { toHalfBits } from "../../graph/float16.ts";
import type { Value } from "../../graph/node.ts";
import { type Tensor, tensor } from "../../graph/tensor.ts";

const toHalf = ({ constant }: Value): Tensor => {
  const { shape, data } = constant as Tensor;
  return tensor("float16", shape, toHalfBits(new Float32Array(data.slice().buffer)));
};

/** Draws attention whose queries and keys are rotated, and fuses it. */
const fuse = (rotate: (s: Sketch, heads: Value, x: Value) => Value, opset = 17) =>
  rewritten(
    (s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const heads = () => split(s, dense(s, x));
      s.output(drawAttention(s, x, { heads: () => [rotate(s, heads(), x), rotate(s, heads(), x), heads()] }));
    },
    { opset },
  );

describe("rotary embedding", () => {
  it("of whole heads becomes one operator, and the attention MultiHeadAttention", async () => {
    const { counts } = await fuse((s, heads, x) => rotated(s, heads, angles(s, range(s, x))));
    expect(counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1 });
    expect(counts["Softmax"]).toBeUndefined();
  });

  it("with positions that do not start at 0 becomes one operator", async () => {
    const { counts } = await fuse((s, heads, x) =>
      rotated(s, heads, angles(s, s.op("Add", [range(s, x), s.index(3)]))),
    );
    expect(counts["RotaryEmbedding"]).toBe(2);
  });

  it("of scaled heads becomes one operator, and the attention gets the scale", async () => {
    const { counts } = await fuse((s, heads, x) => rotated(s, s.op("Mul", [heads, 0.5]), angles(s, range(s, x))));
    expect(counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1 });
    expect(counts["Mul"]).toBe(1);
  });

  describe("of neighbors", () => {
    const paired = (s: Sketch, heads: Value, x: Value) => rotatedPairs(s, heads, pairedAngles(s, range(s, x)));
    /** Returns the attribute `interleaved` of all rotations. */
    const interleaved = ({ graph }: Awaited<ReturnType<typeof fuse>>) =>
      [...graph.nodes].flatMap((node) => (node.opType === "RotaryEmbedding" ? [node.int("interleaved")] : []));

    it("becomes a rotation of halves before MultiHeadAttention, with other columns of the weights", async () => {
      const found = await fuse(paired);
      expect(found.counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1, MatMul: 3 });
      expect(interleaved(found)).toEqual([undefined, undefined]);
    });

    it("becomes interleaved operators if only queries are rotated in pairs", async () => {
      const found = await rewritten((s) => {
        const x = s.input("x", ["batch", "sequence", HIDDEN]);
        const heads = () => split(s, dense(s, x));
        const q = paired(s, heads(), x);
        const k = rotated(s, heads(), angles(s, range(s, x)));
        s.output(drawAttention(s, x, { heads: () => [q, k, heads()] }));
      });
      expect(found.counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1 });
      expect(interleaved(found)).toEqual([1, undefined]);
    });

    it("becomes interleaved operators of tensors that no linear layer computes", async () => {
      const found = await rewritten((s) => {
        const x = s.input("x", ["batch", "sequence", HIDDEN]);
        const heads = () => paired(s, split(s, s.op("Tanh", [dense(s, x)])), x);
        s.output(drawAttention(s, x, { heads: () => [heads(), heads(), split(s, dense(s, x))] }));
      });
      expect(interleaved(found)).toEqual([1, 1]);
    });

    it.each<[string, Parameters<typeof fuse>[0], string]>([
      [
        "with angles in halves",
        (s, heads, x) => rotatedPairs(s, heads, angles(s, range(s, x))),
        "the same for both elements of a pair",
      ],
      [
        "with another angle for the second element",
        (s, heads, x) =>
          rotatedPairs(
            s,
            heads,
            pairedAngles(s, range(s, x), (each) => s.op("Mul", [each, 2])),
          ),
        "the same for both elements of a pair",
      ],
      [
        "with the first element of each pair twice",
        (s, heads, x) => rotatedPairs(s, heads, pairedAngles(s, range(s, x)), 0),
        "neither between the two halves of whole heads nor between neighbors",
      ],
    ])("%s is not fused", async (_, rotate, reason) => {
      const { counts, why } = await fuse(rotate);
      expect(counts["RotaryEmbedding"]).toBeUndefined();
      expect(why("RotaryEmbedding").join()).toContain(reason);
    });
  });

  it("of float16 heads in float32 becomes one operator between casts, with the weights of these heads", async () => {
    const draw = (s: Sketch) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const cast = (value: Value, to: keyof typeof CAST) => s.op("Cast", [value], { to: CAST[to] });
      const weight = s.constant(toHalf(s.random([HIDDEN, 3 * HIDDEN])));
      const packed = s.op("Reshape", [s.op("MatMul", [cast(x, "float16"), weight]), [0, 0, 3, HEADS, SIZE]]);
      const [q, k, v] = [0, 1, 2].map((i) => {
        const part = s.op("Slice", [packed, [i], [i + 1], [2]]);
        return s.op("Transpose", [s.op("Squeeze", [part, [2]])], { perm: [0, 2, 1, 3] });
      }) as [Value, Value, Value];
      const angle = angles(s, range(s, x));
      const turn = (heads: Value) => cast(rotated(s, cast(heads, "float32"), angle), "float16");
      const scores = (_: Sketch, a: Value, b: Value) =>
        s.op("Div", [s.op("MatMul", [a, b]), s.constant(toHalf(s.floats([], [2])))]);
      s.output(cast(drawAttention(s, x, { heads: () => [turn(q), turn(k), v], scores }), "float32"));
    };
    // Fused attention rounds less often. One float16 unit below 1 is 2⁻¹¹.
    const { counts, graph } = await rewritten(draw, { tolerance: 2 ** -10 });
    expect(counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1, MatMul: 3 });
    const widths = [...graph.nodes].filter((node) => node.is("MatMul")).map((node) => node.output.shape?.at(-1));
    expect(widths).toEqual([HIDDEN, HIDDEN, HIDDEN]);
  });

  describe("of opset 23", () => {
    const standard = (settings: Record<string, number>, columns = HALF) =>
      fuse((s, heads, x) => {
        const table = (kind: "Cos" | "Sin") => {
          const angle = s.op("Squeeze", [angles(s, range(s, x)), [0]]);
          const half = s.op("Slice", [s.op(kind, [angle]), [0], [columns], [2]]);
          return s.op("Expand", [half, s.op("Concat", [s.op("Shape", [x], { end: 1 }), [1, 1]], { axis: 0 })]);
        };
        return s.op("RotaryEmbedding", [heads, table("Cos"), table("Sin")], settings);
      }, 23);

    it.each([{}, { interleaved: 1 }])("with %j becomes onnxruntime's operator", async (settings) => {
      expect((await standard(settings)).counts).toMatchObject({ RotaryEmbedding: 2, MultiHeadAttention: 1 });
    });

    it("of a part of each head is not fused, and neither is the attention", async () => {
      const { counts, why } = await standard({ rotary_embedding_dim: 2 }, 1);
      expect(counts).toMatchObject({ RotaryEmbedding: 2, Softmax: 1 });
      expect(why("RotaryEmbedding").join()).toContain("only rotations of whole heads");
    });
  });

  it.each<[string, Parameters<typeof fuse>[0], string]>([
    [
      "with other angles in the second half",
      (s, heads, x) =>
        rotated(
          s,
          heads,
          angles(s, range(s, x), (half) => s.op("Mul", [half, 2])),
        ),
      "the same for every text, and the same in both halves of a head",
    ],
    [
      "at positions from an input",
      (s, heads) => rotated(s, heads, angles(s, s.graph.inputs[1] ?? s.input("positions", ["sequence"], "int64"))),
      "not computed from positions alone",
    ],
    [
      "by the same angles everywhere",
      (s, heads) => rotated(s, heads, s.floats([1, 1, 1, SIZE], [0.5, 1, 0.5, 1])),
      "do not have one row per position",
    ],
    [
      "split outside the middle",
      (s, heads, x) => rotated(s, heads, angles(s, range(s, x)), 1),
      "neither between the two halves",
    ],
    [
      "with halves of different sizes",
      (s, heads, x) => {
        const [first, second] = [s.op("Slice", [heads, [0], [3], [3]]), s.op("Slice", [heads, [2], [3], [3]])];
        const turned = s.op("Concat", [s.op("Neg", [second]), first], { axis: -1 });
        const angle = angles(s, range(s, x));
        return s.op("Add", [s.op("Mul", [heads, s.op("Cos", [angle])]), s.op("Mul", [turned, s.op("Sin", [angle])])]);
      },
      "neither between the two halves",
    ],
    [
      "of a tensor without heads",
      (s, heads, x) => rotated(s, s.op("Tanh", [heads]), angles(s, range(s, x))),
      "not split into heads",
    ],
  ])("%s is not fused", async (_, rotate, reason) => {
    const { counts, why } = await fuse(rotate);
    expect(counts["RotaryEmbedding"]).toBeUndefined();
    expect(why("RotaryEmbedding").join()).toContain(reason);
  });
});
