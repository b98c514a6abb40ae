import { expect, it } from "vitest";
import { outline } from "../compile/graph/outline.ts";
import { inspectReport } from "./inspect-report.ts";

const node = (operator: string, result: string, ...types: string[]) => ({
  operator,
  weights: types.map((type) => ({ type, bytes: 600_000 })),
  result,
});

const layer = [
  node("com.microsoft.Attention", "float32[batch, sequence, 384]", "float32[384, 1152]"),
  node("MatMul", "float32[batch, sequence, 384]", "float32[384, 384]"),
  node("com.microsoft.BiasGelu", "float32[batch, sequence, 384]"),
  node("com.microsoft.SkipLayerNormalization", "float32[batch, sequence, 384]", "float32[384]", "float32[384]"),
];

it("prints a layer once, and says which layers are the same", () => {
  const before = outline([...layer, ...layer, node("Cast", "int32[2]")], 12e6);
  const after = outline([node("Cast", "int32[2]"), node("Cast", "int32[2]"), ...layer, ...layer, ...layer], 50_000);
  const text = inspectReport({
    ...{ kind: "model", before, after, fused: {} },
    reasons: [{ pattern: "Gelu", node: "Erf_1", why: "it is read by others" }],
    keys: [],
    excused: [{ pattern: "Attention", nodes: ["Softmax_1", "Softmax_2"], why: "it is sparse" }],
  });
  const lines = (indent: string) => [
    `${indent}Attention (float32[384, 1152]: 0.6 MB) → float32[batch, sequence, 384]`,
    `${indent}MatMul (float32[384, 384]: 0.6 MB) → float32[batch, sequence, 384]`,
    `${indent}BiasGelu → float32[batch, sequence, 384]`,
    `${indent}SkipLayerNormalization (2 × float32[384]: 1.2 MB) → float32[batch, sequence, 384]`,
  ];
  expect(text.split("\n")).toEqual([
    "before: 9 nodes, 12.0 MB of weights",
    "  2 Attention, 2 MatMul, 2 BiasGelu, 2 SkipLayerNormalization, 1 Cast",
    "",
    "  layer 0",
    ...lines("    "),
    "  layer 1: as layer 0",
    "  Cast → int32[2]",
    "",
    "after: 14 nodes, 50.0 kB of weights",
    "  3 Attention, 3 MatMul, 3 BiasGelu, 3 SkipLayerNormalization, 2 Cast",
    "",
    "  2 × Cast → int32[2]",
    "  layer 0",
    ...lines("    "),
    "  layers 1-2: as layer 0",
    "",
    "not fused: Gelu at Erf_1: it is read by others",
    "kept: 2 × Attention, first at Softmax_1: it is sparse",
    "9 → 14 nodes, 12.0 MB → 50.0 kB of weights",
  ]);
});

it("prints what each target of an artifact runs", () => {
  const edge = {
    ...({ engine: "wasm", precision: "int8-edge", model: "m.safetensors" } as const),
    outline: outline([node("cls", "f32[sequences, 8]")], 0),
  };
  expect(inspectReport({ kind: "artifact", name: "mini", version: "0123", targets: { edge } }).split("\n")).toEqual([
    "mini, version 0123",
    "",
    "edge, wasm, int8-edge, m.safetensors: 1 node, 0.0 kB of weights",
    "  1 cls",
    "",
    "  cls → f32[sequences, 8]",
  ]);
});

it("lists the keys of a model folder's files by what becomes of them", () => {
  const graph = outline([node("Cast", "int32[2]")], 0);
  const text = inspectReport({
    ...{ kind: "model", before: graph, after: graph, fused: {}, reasons: [], excused: [] },
    keys: [
      { file: "config.json", key: "hidden_size", treatment: "obeyed" },
      { file: "config.json", key: "mood", treatment: "unknown" },
      { file: "modules.json", key: "name", treatment: "no-effect" },
      { file: "config.json", key: "is_decoder", treatment: "only" },
    ],
  });
  expect(text.split("\n").slice(-7)).toEqual([
    "config.json",
    "  obeyed: hidden_size",
    "  only with the value that is computed: is_decoder",
    "  not known: mood",
    "",
    "modules.json",
    "  without effect on results: name",
  ]);
});
