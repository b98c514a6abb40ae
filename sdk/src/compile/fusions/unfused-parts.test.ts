import { describe, expect, it } from "vitest";
import {
  type AttentionParts,
  dense,
  drawAttention,
  HIDDEN,
  merge,
  SIZE,
  split,
} from "#test/fixtures/draw-attention.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import type { Value } from "../graph/node.ts";
import { fuseGraph } from "./fuse-graph.ts";
import { unfusedParts } from "./unfused-parts.ts";

/**
 * Draws attention and the nodes that `draw` adds, and fuses this graph. Checks that the attention is fused. Returns the
 * reasons why the rest is not completely fused.
 */
async function reasons(draw: (s: Sketch, attended: Value) => Value) {
  const s = new Sketch();
  s.output(draw(s, drawAttention(s, s.input("x", ["batch", "sequence", HIDDEN]))));
  const trace = await fuseGraph(s.graph);
  expect([...s.graph.nodes].filter(({ opType }) => opType === "Attention")).toHaveLength(1);
  return unfusedParts(s.graph, trace);
}

describe("unfused attention is reported", () => {
  it.each<[string, AttentionParts]>([
    [
      "with Exp, ReduceSum and Div for its softmax",
      {
        softmax: (s, scores) => {
          const powers = s.op("Exp", [s.op("Sub", [scores, s.op("ReduceMax", [scores], { axes: [-1] })])]);
          return s.op("Div", [powers, s.op("ReduceSum", [powers, [-1]])]);
        },
      },
    ],
    ["with Sin of its probabilities", { probabilities: (s, p) => s.op("Sin", [p]) }],
    ["with a number subtracted from its probabilities", { probabilities: (s, p) => s.op("Sub", [p, 0.01]) }],
  ])("%s", async (_, parts) => {
    expect(await reasons((s, attended) => drawAttention(s, attended, parts))).toMatchObject([
      { pattern: "Attention", node: expect.stringMatching(/\w/), why: expect.stringMatching(/\w/) },
    ]);
  });

  it.each(["...qk,...kd->...qd", "bhij,bhjm"])("with Einsum %s instead of MatMul", async (equation) => {
    const found = await reasons((s, x) => {
      const [q, k, v] = [split(s, dense(s, x)), split(s, dense(s, x)), split(s, dense(s, x))];
      const keys = s.op("Transpose", [k], { perm: [0, 1, 3, 2] });
      const scores = s.op("Div", [s.op("MatMul", [q, keys]), Math.sqrt(SIZE)]);
      return merge(s, s.op("Einsum", [s.op("Softmax", [s.op("Sin", [scores])], { axis: -1 }), v], { equation }));
    });
    expect(found).toMatchObject([{ pattern: "Attention" }]);
  });

  it("with the name of an unsupported operator inside it", async () => {
    const parts: AttentionParts = { probabilities: (s, p) => s.op("Sin", [p]) };
    const [reason] = await reasons((s, attended) => drawAttention(s, attended, parts));
    expect(reason?.why).toContain("Sin");
  });
});

describe("a softmax that is not attention", () => {
  it("is not reported in a classifier", async () => {
    expect(
      await reasons((s, attended) => {
        const first = s.op("Gather", [attended, s.index(0)], { axis: 1 });
        return s.op("Softmax", [dense(s, first, 3)], { axis: -1 });
      }),
    ).toEqual([]);
  });

  it("is not reported in a classifier, even if a MatMul follows", async () => {
    expect(
      await reasons((s, attended) =>
        s.op("MatMul", [s.op("Softmax", [dense(s, attended, 3)], { axis: -1 }), s.random([3, HIDDEN])]),
      ),
    ).toEqual([]);
  });
});

describe("an unfused normalization", () => {
  const scaled = (s: Sketch, centred: Value, gain: Value) => {
    const variance = s.op("ReduceMean", [s.op("Mul", [centred, centred])], { axes: [-1] });
    return s.op("Mul", [s.op("Div", [centred, s.op("Sqrt", [s.op("Add", [variance, 1e-5])])]), gain]);
  };

  it("is reported with its reason if it is a layer normalization", async () => {
    const [reason] = await reasons((s, x) =>
      scaled(s, s.op("Sub", [x, s.op("ReduceMean", [x], { axes: [-1] })]), s.input("gain", [HIDDEN])),
    );
    expect(reason).toMatchObject({ pattern: "LayerNormalization", why: expect.stringContaining("a constant") });
  });

  it("is not reported if it does not subtract the mean, because there is no fused operator for it", async () => {
    expect(await reasons((s, x) => scaled(s, x, s.random([HIDDEN], 1)))).toEqual([]);
  });
});
