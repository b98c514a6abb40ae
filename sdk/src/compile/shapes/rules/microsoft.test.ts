import { describe, expect, it } from "vitest";
import type { Sketch, SketchAttribute, SketchOperand } from "#test/fixtures/sketch.ts";
import { compareWithOnnxruntime, type Draw } from "#test/oracles/shape-oracle.ts";
import { MICROSOFT } from "../../graph/node.ts";
import { elementCount, tensor } from "../../graph/tensor.ts";
import { microsoftRules } from "./microsoft.ts";

const x3 = (s: Sketch) => s.input("x", ["b", "s", 8]);
const bytes = (s: Sketch, shape: readonly number[]) =>
  s.constant(
    tensor(
      "int8",
      shape,
      Int8Array.from({ length: elementCount(shape) }, (_, i) => (i % 255) - 127),
    ),
  );
const add = (
  s: Sketch,
  opType: string,
  inputs: readonly SketchOperand[],
  settings?: Record<string, SketchAttribute>,
  outputs = [opType],
) => s.node(opType, inputs, settings, { domain: MICROSOFT, outputs });

const cases: [opType: string, what: string, draw: Draw][] = [
  ["Gelu", "", (s) => add(s, "Gelu", [x3(s)])],
  ["FastGelu", "", (s) => add(s, "FastGelu", [x3(s), s.random([8])])],
  ["QuickGelu", "", (s) => add(s, "QuickGelu", [x3(s)])],
  ["BiasGelu", "", (s) => add(s, "BiasGelu", [x3(s), s.random([8])])],
  [
    "RotaryEmbedding",
    "",
    (s) => {
      const table = s.random([9, 2]);
      add(s, "RotaryEmbedding", [x3(s), s.input("ids", ["b", "s"], "int64"), table, table], { num_heads: 2 });
    },
  ],
  [
    "SkipLayerNormalization",
    "with the sum",
    (s) => {
      const inputs = [x3(s), s.input("skip", ["b", "s", 8]), s.random([8])];
      add(s, "SkipLayerNormalization", inputs, {}, ["y", "", "", "sum"]);
    },
  ],
  [
    "SkipSimplifiedLayerNormalization",
    "with the sum",
    (s) => {
      const inputs = [x3(s), s.input("skip", ["b", "s", 8]), s.random([8])];
      add(s, "SkipSimplifiedLayerNormalization", inputs, {}, ["y", "", "", "sum"]);
    },
  ],
  [
    "EmbedLayerNormalization",
    "with all its outputs",
    (s) => {
      const [ids, mask] = ["ids", "mask"].map((name) => s.input(name, ["b", "s"], "int32"));
      const tables = [s.random([9, 8]), s.random([9, 8]), undefined, s.random([8]), s.random([8])];
      add(s, "EmbedLayerNormalization", [ids, undefined, ...tables, mask], {}, ["y", "mask_index", "sum"]);
    },
  ],
  ["Attention", "", (s) => add(s, "Attention", [x3(s), s.random([8, 24]), s.random([24])], { num_heads: 2 })],
  [
    "Attention",
    "with values of another width",
    (s) => {
      const settings = { num_heads: 2, qkv_hidden_sizes: [8, 8, 4] };
      add(s, "Attention", [x3(s), s.random([8, 20]), s.random([20])], settings);
    },
  ],
  [
    "MultiHeadAttention",
    "",
    (s) => {
      const [q, k, v] = [x3(s), s.input("k", ["b", 7, 8]), s.input("v", ["b", 7, 6])];
      add(s, "MultiHeadAttention", [q, k, v], { num_heads: 2 });
    },
  ],
  [
    "QAttention",
    "",
    (s) => {
      const inputs = [s.input("x", ["b", "s", 8], "uint8"), bytes(s, [8, 24]), s.random([24]), 0.5, s.random([24], 1)];
      add(s, "QAttention", inputs, { num_heads: 2 });
    },
  ],
  [
    "DynamicQuantizeMatMul",
    "",
    (s) => add(s, "DynamicQuantizeMatMul", [x3(s), bytes(s, [8, 5]), s.random([5], 1), undefined, s.random([5])]),
  ],
  [
    "MatMulIntegerToFloat",
    "",
    (s) => add(s, "MatMulIntegerToFloat", [s.input("x", ["b", "s", 8], "uint8"), bytes(s, [8, 5]), 0.5, 0.25]),
  ],
  ...[4, 8].map((bits): (typeof cases)[number] => [
    "GatherBlockQuantized",
    `of ${bits} bits`,
    (s) => {
      const rows = s.constant(
        tensor(
          "uint8",
          [9, (32 * bits) / 8],
          Uint8Array.from({ length: 36 * bits }, (_, i) => i % 256),
        ),
      );
      const inputs = [rows, s.input("ids", ["b", "s"], "int64"), s.random([9, 2], 1)];
      add(s, "GatherBlockQuantized", inputs, { gather_axis: 0, quantize_axis: 1, block_size: 16, bits });
    },
  ]),
  [
    "MatMulNBits",
    "",
    (s) => {
      const weights = s.constant(
        tensor(
          "uint8",
          [5, 1, 8],
          Uint8Array.from({ length: 40 }, (_, i) => 6 * i),
        ),
      );
      const settings = { K: 16, N: 5, bits: 4, block_size: 16 };
      add(s, "MatMulNBits", [s.input("x", ["b", "s", 16]), weights, s.random([5], 1)], settings);
    },
  ],
];

describe("rules of onnxruntime's operators", () => {
  it.each(cases)("%s %s", async (_, __, draw) => {
    expect(await compareWithOnnxruntime(draw)).toEqual({ wrong: [], unknown: [] });
  });

  it("are all compared with onnxruntime", () => {
    expect(new Set(cases.map(([opType]) => opType))).toEqual(new Set(Object.keys(microsoftRules)));
  });
});
