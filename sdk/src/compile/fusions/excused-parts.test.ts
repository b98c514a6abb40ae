import { describe, expect, it } from "vitest";
import {
  type AttentionParts,
  dense,
  drawAttention,
  HEADS,
  HIDDEN,
  SIZE,
  split,
} from "#test/fixtures/draw-attention.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { tensor } from "../graph/tensor.ts";
import { fuseGraph } from "./fuse-graph.ts";
import { excusedParts, unfusedParts } from "./unfused-parts.ts";

/** Fuses what `draw` draws. Returns the parts that are excused, and the reasons why others are not fused. */
async function report(draw: (s: Sketch, x: Value) => Value, length: string | number = "sequence") {
  const s = new Sketch();
  s.output(draw(s, s.input("x", ["batch", length, HIDDEN])));
  const trace = await fuseGraph(s.graph);
  return { excused: excusedParts(s.graph), reasons: unfusedParts(s.graph, trace) };
}

/** Quantizes and dequantizes a value. */
function requantized(s: Sketch, value: Value): Value {
  const [scale, zero] = [1 / 127, s.constant(tensor("uint8", [], Uint8Array.of(0)))];
  return s.op("DequantizeLinear", [s.op("QuantizeLinear", [value, scale, zero]), scale, zero]);
}

const sumOver = (s: Sketch, x: Value, axis: number) => s.op("ReduceMean", [x], { axes: [axis] });

/** Draws attention to the means of every four tokens, as Nyströmformer has. x has 8 tokens. */
function landmarks(s: Sketch, x: Value): Value {
  const heads = () => split(s, dense(s, x));
  const k = s.op("Squeeze", [sumOver(s, s.op("Reshape", [heads(), [0, HEADS, 2, 4, SIZE]]), 3), [3]]);
  const v = s.op("Squeeze", [sumOver(s, s.op("Reshape", [heads(), [0, HEADS, 2, 4, SIZE]]), 3), [3]]);
  return drawAttention(s, x, { heads: () => [heads(), k, v] });
}

/** Draws a convolution over three tokens whose weights depend on the token, as ConvBERT has. */
function dynamicConvolution(s: Sketch, x: Value): Value {
  const weights = s.op("Softmax", [s.op("Unsqueeze", [dense(s, x, 3), [3]])], { axis: 2 });
  const windows = s.op("Reshape", [dense(s, x, 3 * HIDDEN), [0, 0, HIDDEN, 3]]);
  return s.op("Squeeze", [s.op("MatMul", [windows, weights]), [3]]);
}

/** Draws layer normalization of a sum of two embeddings. The token table has 8 bits. */
function embeddings(s: Sketch, positions: Value | undefined, lookup = quantizedLookup): Value {
  const tokens = lookup(s, s.input("ids", ["batch", "sequence"], "int64"));
  const sum = positions ? s.op("Add", [tokens, positions]) : tokens;
  return s.op("LayerNormalization", [sum, s.random([HIDDEN], 1), s.random([HIDDEN])], { axis: -1 });
}

function quantizedLookup(s: Sketch, ids: Value): Value {
  const table = s.constant(
    tensor(
      "int8",
      [9, HIDDEN],
      Int8Array.from({ length: 9 * HIDDEN }, (_, i) => i),
    ),
  );
  const zero = s.constant(tensor("int8", [], Int8Array.of(0)));
  return s.op("DequantizeLinear", [s.op("Gather", [table, ids]), 0.01, zero]);
}

/** Looks tokens up in a table with a scale for each row. */
function blockLookup(s: Sketch, ids: Value): Value {
  const table = s.constant(
    tensor(
      "uint8",
      [9, HIDDEN],
      Uint8Array.from({ length: 9 * HIDDEN }, (_, i) => i),
    ),
  );
  const settings = { bits: 8, block_size: 16, gather_axis: 0, quantize_axis: 1 };
  return s.op("GatherBlockQuantized", [table, ids, s.random([9, 1], 1)], settings, { domain: MICROSOFT });
}

describe("parts that onnxruntime has no operator for", () => {
  it.each<[string, string, (s: Sketch, x: Value) => Value, (string | number)?]>([
    [
      "attention whose probabilities are an output",
      "an output of the model",
      (s, x) => {
        const probabilities = (_: Sketch, p: Value) => {
          s.output(p, "probabilities");
          return p;
        };
        return drawAttention(s, x, { probabilities });
      },
    ],
    [
      "attention whose probabilities without NaN are an output",
      "an output of the model",
      (s, x) => {
        const probabilities = (_: Sketch, p: Value) => {
          const guarded = s.op("Where", [s.op("IsNaN", [p]), 0, p]);
          s.output(guarded, "probabilities");
          return guarded;
        };
        return drawAttention(s, x, { probabilities });
      },
    ],
    [
      "attention with quantized probabilities",
      "are quantized",
      (s, x) => drawAttention(s, x, { probabilities: requantized }),
    ],
    ["attention with quantized scores", "are quantized", (s, x) => drawAttention(s, x, { masked: requantized })],
    ["attention to landmarks", "a part of the sequence or of landmarks", landmarks, 8],
    ["a dynamic convolution", "the result of a linear layer", dynamicConvolution],
  ])("have one reason: %s", async (_, why, draw, length) => {
    const { excused, reasons } = await report(draw, length);
    expect(excused).toEqual([
      { pattern: "Attention", why: expect.stringContaining(why), nodes: [expect.stringMatching(/\w/)] },
    ]);
    expect(reasons).toEqual([]);
  });

  it("have one reason for several parts", async () => {
    const parts: AttentionParts = { probabilities: requantized };
    const { excused } = await report((s, x) => drawAttention(s, drawAttention(s, x, parts), parts));
    expect(excused.map(({ nodes }) => new Set(nodes).size)).toEqual([2]);
  });

  it("include activations with quantized values", async () => {
    const { excused } = await report((s, x) => {
      const attended = drawAttention(s, x);
      const erf = s.op("Erf", [requantized(s, s.op("Mul", [attended, Math.SQRT1_2]))]);
      return s.op("Mul", [s.op("Mul", [attended, 0.5]), s.op("Add", [erf, 1])]);
    });
    expect(excused).toMatchObject([{ pattern: "Gelu", why: expect.stringContaining("are quantized") }]);
  });

  it.each([
    ["is scaled after the lookup", quantizedLookup],
    ["has a scale for each row", blockLookup],
  ])("include the sum of embeddings if a table of 8 bits %s", async (_, lookup) => {
    const { excused } = await report((s) => drawAttention(s, embeddings(s, s.random([1, 1, HIDDEN]), lookup)));
    expect(excused).toMatchObject([
      { pattern: "EmbedLayerNormalization", why: expect.stringContaining("are quantized") },
    ]);
  });

  it("include the sum of embeddings that is quantized itself", async () => {
    const { excused } = await report((s, x) => {
      const tokens = s.op("Gather", [s.random([9, HIDDEN]), s.input("ids", ["batch", "sequence"], "int64")]);
      const sum = requantized(s, s.op("Add", [requantized(s, tokens), s.random([1, 1, HIDDEN])]));
      const normalized = s.op("LayerNormalization", [sum, s.random([HIDDEN], 1), s.random([HIDDEN])], { axis: -1 });
      return s.op("Add", [drawAttention(s, x), normalized]);
    });
    expect(excused).toMatchObject([{ pattern: "EmbedLayerNormalization" }]);
  });

  it("do not include embeddings without positions, which are no EmbedLayerNormalization", async () => {
    expect((await report((s) => drawAttention(s, embeddings(s, undefined)))).excused).toEqual([]);
  });

  it.each<[string, AttentionParts]>([
    ["an unknown operator before the softmax", { masked: (s, scores) => s.op("Sin", [scores]) }],
    ["an unknown operator after the softmax", { probabilities: (s, p) => s.op("Sin", [p]) }],
    [
      "queries that another operator changes",
      {
        heads: (s, x) => {
          const heads = () => split(s, dense(s, x));
          return [s.op("Sin", [heads()]), heads(), heads()];
        },
      },
    ],
  ])("do not include attention with %s", async (_, parts) => {
    for (const length of ["sequence", 8]) {
      const { excused, reasons } = await report((s, x) => drawAttention(s, x, parts), length);
      expect(excused).toEqual([]);
      expect(reasons).toMatchObject([{ pattern: "Attention" }]);
    }
  });
});
