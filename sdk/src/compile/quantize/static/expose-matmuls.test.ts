import { describe, expect, it } from "vitest";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { countOperators, expectSame } from "#test/oracles/rewritten.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";
import { verifyGraph } from "../../graph/verify-graph.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { constantMatMuls, exposeMatMuls } from "./expose-matmuls.ts";

const HIDDEN = 8;

/** Exposes the MatMuls of a sketch, and checks that the new graph computes the same outputs. */
async function exposed(draw: (s: Sketch) => void, sizes = [{ batch: 2, sequence: 5 }]) {
  const s = new Sketch();
  draw(s);
  inferShapes(s.graph);
  const before = printGraph(s.graph);
  const { graph, copies } = exposeMatMuls(s.graph);
  verifyGraph(graph);
  expect(printGraph(s.graph)).toBe(before);
  await expectSame(graph, s.graph, { sizes });
  return { graph, copies, original: s.graph, counts: countOperators(graph) };
}

const tokens = (s: Sketch) => s.input("x", ["batch", "sequence", HIDDEN]);
const keys = (s: Sketch) => s.input("mask", ["batch", "sequence"], "int32");

describe("exposeMatMuls, for attention with packed projections", () => {
  interface Parts {
    readonly widths?: readonly [number, number, number];
    readonly mask?: (s: Sketch) => Value | undefined;
    readonly scoreBias?: boolean;
    readonly settings?: Record<string, SketchAttribute>;
  }
  function attention(s: Sketch, { widths, mask = keys, scoreBias = false, settings }: Parts): Value {
    const width = (widths ?? [HIDDEN, HIDDEN, HIDDEN]).reduce((sum, each) => sum + each);
    const biases = [undefined, scoreBias ? s.random([1, 2, 5, 5]) : undefined];
    const inputs = [tokens(s), s.random([HIDDEN, width]), s.random([width]), mask(s), ...biases];
    const all = { num_heads: 2, ...(widths && { qkv_hidden_sizes: widths }), ...settings };
    return s.op("Attention", inputs, all, { domain: MICROSOFT });
  }

  it.each<[string, Parts]>([
    ["", {}],
    ["without a mask", { mask: () => undefined }],
    ["with values narrower than keys", { widths: [8, 8, 4] }],
    ["with a bias of the scores", { scoreBias: true }],
    ["with a scale and a mask filter value", { settings: { scale: { float: 0.3 }, mask_filter_value: { float: -9 } } }],
    ["with causal attention", { settings: { unidirectional: 1 } }],
  ])("makes three MatMuls and one attention %s", async (_, parts) => {
    const { counts, copies, original, graph } = await exposed((s) => s.output(s.op("Relu", [attention(s, parts)])));
    expect(counts).toMatchObject({ MatMul: 3, MultiHeadAttention: 1 });
    expect(counts).not.toHaveProperty("Attention");
    const [context] = [...original.nodes].map(({ output }) => output);
    expect([...graph.nodes]).toContain(copies.get(context as Value)?.producer);
  });

  it.each<[string, Parts]>([
    ["a mask of token counts", { mask: (s) => s.input("mask", ["batch"], "int32") }],
    ["a mask for every query", { mask: (s) => s.input("mask", ["batch", 5, 5], "int32") }],
    ["an unknown attribute", { settings: { past_present_share_buffer: 0 } }],
  ])("keeps attention with %s", async (_, parts) => {
    const { counts } = await exposed((s) => s.output(attention(s, parts)));
    expect(counts).toMatchObject({ Attention: 1 });
  });

  it("keeps attention with computed weights", async () => {
    const { counts } = await exposed((s) => {
      const inputs = [tokens(s), s.input("w", [HIDDEN, 3 * HIDDEN]), s.random([3 * HIDDEN])];
      s.output(s.op("Attention", inputs, { num_heads: 2 }, { domain: MICROSOFT }));
    });
    expect(counts).toEqual({ Attention: 1 });
  });
});

describe("exposeMatMuls, for weights that are transposed at run time", () => {
  const layers: [string, (s: Sketch) => Value][] = [
    ["MatMul", (s) => s.op("MatMul", [tokens(s), s.op("Transpose", [s.random([5, HIDDEN])], { perm: [1, 0] })])],
    ["MatMul, by default", (s) => s.op("MatMul", [tokens(s), s.op("Transpose", [s.random([5, HIDDEN])])])],
    [
      "MatMul, twice",
      (s) => {
        const once = s.op("Transpose", [s.random([HIDDEN, 5])], { perm: [1, 0] });
        return s.op("MatMul", [tokens(s), s.op("Identity", [s.op("Transpose", [once], { perm: [1, 0] })])]);
      },
    ],
    [
      "MatMul, not at all",
      (s) => s.op("MatMul", [tokens(s), s.op("Transpose", [s.random([HIDDEN, 5])], { perm: [0, 1] })]),
    ],
    [
      "Gemm",
      (s) => s.op("Gemm", [s.input("x", ["batch", HIDDEN]), s.random([5, HIDDEN]), s.random([5])], { transB: 1 }),
    ],
    [
      "Gemm, twice",
      (s) => {
        const transposed = s.op("Transpose", [s.random([HIDDEN, 5])], { perm: [1, 0] });
        return s.op("Gemm", [s.input("x", ["batch", HIDDEN]), transposed, s.random([5])], {
          transB: 1,
          alpha: { float: 0.5 },
        });
      },
    ],
  ];
  it.each(layers)("stores the weight as [in, out]: %s", async (_, draw) => {
    const { graph } = await exposed((s) => s.output(draw(s)));
    expect(constantMatMuls(graph)).toHaveLength(1);
    expect(graph.nodes.size).toBe(1);
  });

  it("stores a weight once that several layers read", async () => {
    const { graph } = await exposed((s) => {
      const matrix = s.random([HIDDEN, HIDDEN]);
      const layer = (x: Value) => s.op("MatMul", [x, s.op("Transpose", [matrix], { perm: [1, 0] })]);
      s.output(layer(layer(tokens(s))));
    });
    expect(graph.constants().size).toBe(1);
  });
});

it("constantMatMuls ignores MatMuls of computed tensors", async () => {
  const { graph } = await exposed((s) => {
    const x = tokens(s);
    s.output(s.op("MatMul", [x, s.op("Transpose", [x], { perm: [0, 2, 1] })]));
    s.output(s.op("MatMul", [s.random([3, HIDDEN]), s.input("w", [HIDDEN, 4])]), "constant first");
  });
  expect(constantMatMuls(graph)).toEqual([]);
});
