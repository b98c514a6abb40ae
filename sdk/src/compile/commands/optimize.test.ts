import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { quantizedSoftmax } from "#test/fixtures/quantized-softmax.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert, writeTinyCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { ints } from "../graph/node.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { optimize } from "./optimize.ts";

async function written(graph: Graph): Promise<{ folder: string; source: string; out: string }> {
  const folder = await temporaryFolder();
  const source = join(folder, "in.onnx");
  await writeOnnx(source, graph);
  return { folder, source, out: join(folder, "out.onnx") };
}

const encoder = () => {
  const { config, weights } = tinyBert();
  return encoderGraph(config, weights);
};

/** Returns an attention that no fusion recognizes: its queries, keys and values are not split into heads. */
function unknownAttention(): Graph {
  const g = new NamedGraph("unknown", [{ name: "x", dtype: "float32", shape: ["batch", "sequence", 8] }]);
  g.op("keys", "Transpose", ["x"], { perm: ints(0, 2, 1) });
  g.op("scores", "MatMul", ["x", "keys"]);
  g.op("rotated", "Sin", ["scores"]);
  g.op("y", "MatMul", [g.op("probabilities", "Softmax", ["rotated"]), "x"]);
  return g.outputs("y");
}

describe("optimize", () => {
  it("writes the fused model and reports what it did", async () => {
    const { folder, source, out } = await written(encoder());
    const stages: string[] = [];
    const report = await optimize({ model: source, out, onProgress: ({ message }) => stages.push(message) });
    expect(report).toMatchObject({
      nodes: { before: 93, after: 18 },
      fused: { EmbedLayerNormalization: 1, Attention: 2, SkipLayerNormalization: 4, BiasGelu: 2 },
      complete: true,
      reasons: [],
      excused: [],
      parity: { cases: 4 },
    });
    expect(report.parity?.maxAbs).toBeLessThan(1e-5);
    expect(report.parity?.cosine).toBeGreaterThan(0.999_999);
    expect(report.seconds).toBeGreaterThan(0);
    expect(report.peakRssMB).toBeGreaterThan(0);
    expect([...new Set(stages)]).toEqual([
      `read ${source}`,
      "fuse the graph",
      "write the model",
      "compare with the original",
    ]);
    expect((await readdir(folder)).sort()).toEqual(["in.onnx", "out.onnx"]);
  });

  it("accepts a model folder", async () => {
    const folder = await temporaryFolder();
    await writeTinyCheckpoint(join(folder, "model"), { files: { "tokenizer.json": undefined } });
    const report = await optimize({ model: join(folder, "model"), out: join(folder, "out.onnx") });
    expect(report).toMatchObject({ complete: true, nodes: { before: 93, after: 18 }, fused: { Attention: 2 } });
    expect(report.parity?.cases).toBeGreaterThan(0);
  });

  it("can replace its input, with the same result", async () => {
    const { source, out } = await written(encoder());
    await optimize({ model: source, out, checkParity: false });
    await optimize({ model: source, out: source, checkParity: false });
    expect(Buffer.compare(await readFile(source), await readFile(out))).toBe(0);
    // An optimized file does not change when it is optimized again.
    expect(await optimize({ model: source, out: source, checkParity: false })).toMatchObject({
      nodes: { before: 18, after: 18 },
      complete: true,
    });
  });

  it("accepts the bytes of a file or the files of a folder, and returns the result's bytes", async () => {
    const { folder, source, out } = await written(encoder());
    await optimize({ model: source, out, checkParity: false });
    const file = new Uint8Array(await readFile(out));
    const { model, complete, stages } = await optimize({ model: new Uint8Array(await readFile(source)) });
    expect(complete).toBe(true);
    expect(model).toEqual(file);
    expect(stages.map(({ stage }) => stage)).toEqual(["read", "fuse", "write", "check"]);

    await writeTinyCheckpoint(join(folder, "model"), { files: { "tokenizer.json": undefined } });
    const names = ["config.json", "model.safetensors"];
    const files = new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, "model", name))] as const)),
    );
    const fromFiles = await optimize({ model: files, checkParity: false });
    expect(fromFiles).toMatchObject({ complete: true, model: expect.any(Uint8Array) });
    const outside = new Map([["../config.json", Uint8Array.of()]]);
    expect(await refusalOf(optimize({ model: outside }))).toBe("checkpoint_invalid");
  });

  it("stops when the signal aborts, and leaves existing files as they were", async () => {
    const { folder, source, out } = await written(encoder());
    await writeFile(out, "earlier");
    for (const stage of ["fuse", "check"]) {
      const abort = new AbortController();
      const onProgress = (now: { stage: string }) => now.stage === stage && abort.abort();
      expect(await refusalOf(optimize({ model: source, out, onProgress, signal: abort.signal }))).toBe("aborted");
    }
    expect(await readFile(out, "utf8")).toBe("earlier");
    expect((await readdir(folder)).sort()).toEqual(["in.onnx", "out.onnx"]);
  });

  it("reports what could not be fused, and writes a partial result only if allowed", async () => {
    const { folder, source, out } = await written(unknownAttention());
    await writeFile(out, "earlier");
    const report = await optimize({ model: source, out });
    expect(report).toMatchObject({
      complete: false,
      reasons: [
        { pattern: "Attention", node: expect.stringMatching(/rotated|probabilities|y/), why: expect.any(String) },
      ],
      parity: { maxAbs: 0 },
    });
    expect(await readFile(out, "utf8")).toBe("earlier");
    expect((await optimize({ model: source, out, allowPartial: true, checkParity: false })).complete).toBe(false);
    expect(await readFile(out, "utf8")).not.toBe("earlier");
    expect((await readdir(folder)).sort()).toEqual(["in.onnx", "out.onnx"]);
  });

  it("writes a model with parts that onnxruntime has no operator for, and names them", async () => {
    const graph = encoder();
    const softmax = [...graph.nodes].find(({ opType }) => opType === "Softmax");
    if (softmax) graph.outputs.push({ name: "attentions", value: softmax.output, declaration: undefined });
    const { source, out } = await written(graph);
    const report = await optimize({ model: source, out });
    expect(report).toMatchObject({ complete: true, reasons: [], fused: { Attention: 1 } });
    const why = expect.stringContaining("an output of the model");
    expect(report.excused).toEqual([{ pattern: "Attention", why, nodes: [expect.stringMatching(/\w/)] }]);
    expect(await readFile(out)).not.toHaveLength(0);
  });

  it("accepts a model that onnxruntime itself changes, with a warning", async () => {
    const { source, out } = await written(quantizedSoftmax(true));
    const report = await optimize({ model: source, out, allowPartial: true });
    expect(report).toMatchObject({
      parity: { maxAbs: 0 },
      warnings: [expect.stringContaining("the result's by up to 260")],
    });
    expect((await optimize({ model: source, out, allowPartial: true, checkParity: false })).warnings).toEqual([]);
  });

  it("reports a graph without attention as incomplete", async () => {
    const g = new NamedGraph("none", [{ name: "x", dtype: "float32", shape: ["batch", 8] }]);
    g.op("y", "Tanh", ["x"]);
    const { source, out } = await written(g.outputs("y"));
    expect(await optimize({ model: source, out, checkParity: false })).toMatchObject({
      complete: false,
      parity: undefined,
      reasons: [{ pattern: "Attention", node: "", why: "the graph has no attention that a fusion recognizes" }],
    });
  });

  it.each<[string, string, (folder: string) => Promise<unknown>]>([
    ["a file that does not exist", "onnx_missing", async () => {}],
    ["a file that is not a model", "onnx_invalid", (folder) => writeFile(join(folder, "in.onnx"), "hello")],
    ["a folder without a checkpoint", "checkpoint_missing", (folder) => mkdir(join(folder, "in.onnx"))],
  ])("refuses %s", async (_, code, make) => {
    const folder = await temporaryFolder();
    await make(folder);
    expect(await refusalOf(optimize({ model: join(folder, "in.onnx"), out: join(folder, "out.onnx") }))).toBe(code);
    expect(await readdir(folder)).not.toContain("out.onnx");
  });

  it("refuses an output folder that does not exist, before slow work", async () => {
    const { source, folder } = await written(encoder());
    expect(await refusalOf(optimize({ model: source, out: join(folder, "nowhere", "out.onnx") }))).toBe(
      "out_unwritable",
    );
  });

  it.each<[string, (folder: string) => string]>([
    ["a folder", (folder) => folder],
    ["an empty path", () => ""],
  ])("refuses to write to %s before it reads anything", async (_, outIn) => {
    const folder = await temporaryFolder();
    // If the missing source were read first, the error would be `onnx_missing`.
    expect(await refusalOf(optimize({ model: join(folder, "missing.onnx"), out: outIn(folder) }))).toBe(
      "out_unwritable",
    );
    expect(await readdir(folder)).toEqual([]);
  });
});
