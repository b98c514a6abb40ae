import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import type { FileKeys } from "../compile/checkpoint/modules/ledger.ts";
import { outline } from "../compile/graph/outline.ts";
import { inspectReport } from "./inspect.ts";

it("prints a graph before and after fusion, and one JSON document on stdout with --json", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  const text = await runCommandLine(["inspect", checkpoint]);
  const stdout = expect.stringMatching(/^before: \d+ nodes[\s\S]*\nafter: \d+ nodes/);
  expect(text).toMatchObject({ code: 0, stdout });
  const json = await runCommandLine(["inspect", await preparedTiny(), "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    kind: "artifact",
    name: "tiny",
    targets: { edge: { engine: "wasm" } },
  });
});

it("prints the keys of a folder that is refused, and why it is", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  await writeFile(join(checkpoint, "config_sentence_transformers.json"), '{"truncate_dim": 8}');
  expect(await runCommandLine(["inspect", checkpoint])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^keys of [\s\S]*refused: truncate_dim is 8, which is not supported so far/),
    stderr: expect.stringContaining("Error checkpoint_unsupported"),
  });
  const { stdout } = await runCommandLine(["inspect", checkpoint, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ kind: "refused", refusal: { code: "checkpoint_unsupported" } });
});

it("shows a folder with unknown keys of modules, which `prepare` refuses", async () => {
  const checkpoint = join(await temporaryFolder(), "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  await writeFile(join(checkpoint, "sentence_bert_config.json"), '{"mood": 1}');
  expect(await runCommandLine(["inspect", checkpoint])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^before[\s\S]*not known, refused without --accept-key Transformer.<key>: mood/),
  });
});

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
  expect(
    inspectReport({
      kind: "artifact",
      name: "mini",
      version: "0123",
      acceptedKeys: ["1_Pooling.mood"],
      targets: { edge },
    }).split("\n"),
  ).toEqual([
    "mini, version 0123",
    "accepted keys: 1_Pooling.mood",
    "",
    "edge, wasm, int8-edge, m.safetensors: 1 node, 0.0 kB of weights",
    "  1 cls",
    "",
    "  cls → f32[sequences, 8]",
  ]);
});

it("counts and lists the keys of a model folder's files by what becomes of them", () => {
  const keys: FileKeys[] = [
    {
      ...{ file: "config.json", module: undefined },
      keys: [
        { key: "hidden_size", treatment: "obeyed" },
        { key: "mood", treatment: "unknown" },
        { key: "is_decoder", treatment: "refused", refusal: { why: "is_decoder is true", hint: "" } },
      ],
      counts: { obeyed: 1, "no-effect": 0, refused: 1, unknown: 1 },
    },
    {
      ...{ file: "1_Pooling/config.json", module: "1_Pooling" },
      keys: [
        { key: "embedding_dimension", treatment: "no-effect" },
        { key: "mood", treatment: "unknown" },
      ],
      counts: { obeyed: 0, "no-effect": 1, refused: 0, unknown: 1 },
    },
  ];
  const lines = [
    "keys of                obeyed  without effect  refused  not known",
    "─────────────────────  ──────  ──────────────  ───────  ─────────",
    "config.json                 1               0        1          1",
    "1_Pooling/config.json       0               1        0          1",
    "",
    "config.json",
    "  obeyed: hidden_size",
    "  refused: is_decoder is true",
    "  not known: mood",
    "",
    "1_Pooling/config.json",
    "  without effect: embedding_dimension",
    "  not known, refused without --accept-key 1_Pooling.<key>: mood",
  ];
  const refusal = { code: "checkpoint_unsupported", message: "", hint: "" } as const;
  expect(inspectReport({ kind: "refused", keys, refusal }).split("\n")).toEqual(lines);
  const graph = outline([node("Cast", "int32[2]")], 0);
  const model = { kind: "model", before: graph, after: graph, fused: {}, reasons: [], excused: [], keys } as const;
  expect(inspectReport(model).split("\n").slice(-14)).toEqual(["", ...lines]);
});
