import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { listing, quick } from "#test/fixtures/preparable.ts";
import { quantizable } from "#test/fixtures/quantizable.ts";
import { FP16_LIMIT } from "../accuracy/limits.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { tensor } from "../graph/tensor.ts";
import { readModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { QuantizeMode } from "../stages/quantize.ts";
import type { Progress } from "../stages/stage.ts";
import { type QuantizeOptions, quantize } from "./quantize.ts";

// Comparisons that run int8 kernels of onnxruntime are in quantize.long.test.ts.
describe("quantize", () => {
  it("converts a file to fp16, and reports how it agrees with the original on random tokens", async () => {
    const { path, out, operators, run } = await quantizable();
    const seen: Progress[] = [];
    const report = await run("fp16", { onProgress: (progress) => seen.push(progress) });
    expect(report).toMatchObject({ source: undefined, mode: "fp16", kept: [], ranges: undefined });
    expect(report.parity?.cases).toBeGreaterThan(5);
    expect(report.parity?.meanCosine).toBeGreaterThanOrEqual(FP16_LIMIT.meanCosine);
    expect(report.parity?.minCosine).toBeGreaterThanOrEqual(FP16_LIMIT.minCosine);
    expect(report.parity?.maxAbsDiff).toBeGreaterThan(0);
    const { nodes } = (await readModelSource(path)).graph;
    expect(report.nodes.before).toBe(nodes.size);
    expect(report.nodes.after).toBeLessThan(report.nodes.before / 2);
    expect(report.bytes.after).toBeLessThan(0.6 * report.bytes.before);
    expect(report.bytes.after).toBeGreaterThan(0.4 * report.bytes.before);
    expect(report.seconds).toBeGreaterThan(0);
    expect(report.seconds).toBeLessThan(60);
    expect(report.peakRssMB).toBeGreaterThan(50);
    expect(report.peakRssMB).toBeLessThan(50_000);
    expect(report.stages.map(({ stage }) => stage)).toEqual([
      ...["read", "check", "fuse", "observe", "quantize", "measure", "write"],
    ]);
    expect(new Set(seen.map(({ stage }) => stage))).toEqual(new Set(report.stages.map(({ stage }) => stage)));
    expect(await operators(out)).toContain("Attention");
  });

  it.each<[QuantizeMode, string]>([
    ["int8-dynamic", "DynamicQuantizeMatMul"],
    ["int8-mixed", "QAttention"],
    ["int8-blocks", "MatMulNBits"],
  ])("writes %s without a comparison, a tokenizer or any run of the model", async (mode, operator) => {
    const { out, operators, run } = await quantizable();
    const { parity, kept, stages, bytes, ranges } = await run(mode, { checkParity: false });
    expect({ parity, kept, ranges }).toEqual({ parity: undefined, kept: [], ranges: undefined });
    expect(stages.map(({ stage }) => stage)).toEqual(["read", "check", "fuse", "quantize", "write"]);
    expect(bytes.after).toBeLessThan(bytes.before);
    expect(await operators(out)).toContain(operator);
  });

  it("writes int8-static in standard operators, with the ranges of calibration texts, from paths or from memory", async () => {
    const { folder, path, out, operators, run } = await quantizable();
    const options = { mode: "int8-static", calibration: ["a few words", "and some more"], checkParity: false } as const;
    const report = await run("int8-static", { ...options, tokenizer: folder });
    expect(report).toMatchObject({ ranges: "least error", parity: undefined });
    expect(report.stages.map(({ stage }) => stage)).toEqual([
      ...["read", "check", "read", "observe", "quantize", "write"],
    ]);
    const written = await operators(out);
    expect(written).toContain("QuantizeLinear");
    expect(written).not.toContain("Attention");

    const names = ["config.json", "tokenizer.json", "tokenizer_config.json"];
    const files = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const));
    const model = new Uint8Array(await readFile(path));
    const inMemory = await quantize({ ...options, model, tokenizer: new Map(files) });
    expect(Buffer.from(inMemory.model).equals(await readFile(out))).toBe(true);
  });

  it("can replace its source file", async () => {
    const { path, operators, run } = await quantizable();
    expect(await run("int8-blocks", { out: path, checkParity: false })).not.toHaveProperty("model");
    expect(await operators(path)).toContain("MatMulNBits");
  });

  it("stops when the signal aborts, and leaves existing files as they were", async () => {
    const { parent, out, run } = await quantizable();
    await writeFile(out, "earlier");
    const before = await listing(parent);
    for (const stage of ["fuse", "observe", "measure"]) {
      const abort = new AbortController();
      const onProgress = (now: { stage: string }) => now.stage === stage && abort.abort();
      const work = run("fp16", { onProgress, signal: abort.signal });
      await expect(work).rejects.toMatchObject({ code: "aborted" });
    }
    expect(await listing(parent)).toEqual(before);
  });
});

describe("a file with TensorFlow's names of inputs and fixed sizes", () => {
  const NAMES = new Map([
    ["input_ids", "input_ids:0"],
    ["attention_mask", "input_mask:0"],
    ["token_type_ids", "segment_ids:0"],
  ]);

  it.each<QuantizeMode>(["fp16", "int8-static"])("is calibrated and compared in %s, and keeps both", async (mode) => {
    const { folder, path, out, run } = await quantizable();
    const { graph, envelope } = await readModelSource(folder);
    for (const input of graph.inputs) {
      input.name = NAMES.get(input.name) as string;
      input.shape = [1, 24];
    }
    graph.declarations.clear();
    await writeOnnx(path, graph, envelope);
    const checkParity = mode === "fp16";
    const report = await run(mode, { tokenizer: folder, calibration: quick.calibration.slice(0, 4), checkParity });
    if (checkParity) expect(report.parity).toMatchObject({ cases: probeTexts.length });
    const { inputs } = (await readModelSource(out)).graph;
    expect(inputs.map(({ name, shape }) => [name, shape])).toEqual([...NAMES.values()].map((name) => [name, [1, 24]]));
  });
});

describe("quantize refuses, and leaves existing files as they were:", () => {
  async function expectRefusal(
    { parent, out, run }: Awaited<ReturnType<typeof quantizable>>,
    mode: QuantizeMode,
    more: Partial<QuantizeOptions>,
    expected: object,
  ) {
    await writeFile(out, "earlier");
    const before = await listing(parent);
    await expect(run(mode, more)).rejects.toMatchObject(expected);
    expect(await listing(parent)).toEqual(before);
  }

  it("int8-static without texts", async () => {
    const hint = expect.stringContaining("--tokenizer");
    await expectRefusal(await quantizable(), "int8-static", {}, { code: "calibration_missing", hint });
  });

  it("a tokenizer with more tokens than the model", async () => {
    const model = await quantizable({ rows: 900 });
    const message = expect.stringMatching(/has the token id \d+, but the model's vocabulary size is 900/);
    await expectRefusal(model, "int8-dynamic", { tokenizer: model.folder }, { code: "checkpoint_invalid", message });
  });

  it("a model without input_ids when a tokenizer is given", async () => {
    const model = await quantizable();
    const g = new NamedGraph("sounds", [{ name: "frames", dtype: "float32", shape: ["batch", "sequence", 16] }]);
    g.op("y", "MatMul", ["frames", g.constant("w", tensor("float32", [16, 16], new Float32Array(256).fill(0.5)))]);
    await writeOnnx(model.path, g.outputs("y"));
    const message = "The model has no input named input_ids. Its inputs are: frames.";
    await expectRefusal(model, "int8-dynamic", { tokenizer: model.folder }, { code: "inputs_unknown", message });
  });

  it("a model without weights to quantize", async () => {
    const model = await quantizable();
    const g = new NamedGraph("none", [{ name: "x", dtype: "float32", shape: ["batch", 8] }]);
    g.op("y", "Tanh", ["x"]);
    await writeOnnx(model.path, g.outputs("y"));
    await expectRefusal(model, "int8-dynamic", {}, { code: "nothing_to_quantize" });
  });

  it("a source, a tokenizer and an output folder that do not exist", async () => {
    const model = await quantizable();
    const nowhere = join(model.parent, "nowhere");
    await expectRefusal(model, "fp16", { model: nowhere }, { code: "onnx_missing" });
    await expectRefusal(model, "fp16", { tokenizer: nowhere }, { code: "checkpoint_missing" });
    await expectRefusal(model, "fp16", { out: join(nowhere, "x.onnx") }, { code: "out_unwritable" });
  });
});
