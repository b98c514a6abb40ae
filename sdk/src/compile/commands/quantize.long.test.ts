import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { listing, preparable } from "#test/fixtures/preparable.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "../accuracy/limits.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { numbersOf, tensor } from "../graph/tensor.ts";
import { readModelSource } from "../model/model-source.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { integerMatMuls } from "../quantize/qdq/integer-matmuls.ts";
import type { QuantizeMode } from "../stages/quantize.ts";
import type { Progress } from "../stages/stage.ts";
import { type QuantizeOptions, quantize } from "./quantize.ts";

/** Writes a tiny model as an ONNX file, with its tokenizer's folder and a path for the result. */
async function tinyFile(positions = 512) {
  const { parent, folder } = await preparable({ config: { max_position_embeddings: positions } });
  const path = join(parent, "model.onnx");
  const { graph, envelope } = await readModelSource(folder);
  await writeOnnx(path, graph, envelope);
  const out = join(parent, "result.onnx");
  const run = (mode: QuantizeMode, more: Partial<QuantizeOptions> = {}) =>
    quantize({ model: path, out, mode, ...more });
  return { parent, folder, path, out, run };
}

const operatorsOf = async (path: string) =>
  new Set([...fromOnnx(await readOnnx(path)).nodes].map(({ opType }) => opType));

const modes: readonly (readonly [QuantizeMode, Limit, string])[] = [
  ["int8-dynamic", INT8_LIMIT, "DynamicQuantizeMatMul"],
  ["int8-blocks", INT8_LIMIT, "MatMulNBits"],
  ["int8-static", STATIC_LIMIT, "QuantizeLinear"],
  ["fp16", FP16_LIMIT, "Attention"],
];

describe("quantize", () => {
  it.each(modes)(
    "%s of a file agrees with the original on texts; the model folder gives the same result",
    async (mode, limit, operator) => {
      const { folder, out, run } = await tinyFile();
      const seen: Progress[] = [];
      const report = await run(mode, { tokenizer: folder, onProgress: (progress) => seen.push(progress) });
      expect(report).toMatchObject({ mode, kept: [], parity: { cases: probeTexts.length } });
      expect(report.parity?.meanCosine).toBeGreaterThanOrEqual(limit.meanCosine);
      expect(report.parity?.minCosine).toBeGreaterThanOrEqual(limit.minCosine);
      expect(report.bytes.after).toBeLessThan(report.bytes.before);
      expect(report.ranges).toBe(mode === "int8-static" ? "least error" : undefined);
      expect(await operatorsOf(out)).toContain(operator);
      expect(new Set(report.stages.map(({ stage }) => stage))).toEqual(new Set(seen.map(({ stage }) => stage)));
      for (const work of ["observe activations", "measure:"]) {
        const shares = seen.filter(({ message }) => message.startsWith(work)).flatMap(({ fraction }) => fraction ?? []);
        expect(
          shares.toSorted((a, b) => a - b),
          work,
        ).toEqual(shares);
        expect(shares.at(-1), work).toBe(1);
      }
      const again = await run(mode, { model: folder, tokenizer: folder });
      expect(again.parity).toEqual(report.parity);
    },
  );

  it.each(modes.filter(([mode]) => mode !== "int8-static"))(
    "%s without a tokenizer is compared on random tokens",
    async (mode) => {
      const { parity } = await (await tinyFile()).run(mode);
      expect(parity?.cases).toBeGreaterThan(5);
      expect(parity?.meanCosine).toBeGreaterThanOrEqual(RANDOM_TOKENS_LIMIT.meanCosine);
    },
  );

  it("accepts bytes, and returns the same bytes as for a file", async () => {
    const { folder, path, out, run } = await tinyFile();
    const calibration = ["a few words", "and some more"];
    const { parity } = await run("int8-blocks", { tokenizer: folder, calibration });
    const names = ["config.json", "tokenizer.json", "tokenizer_config.json"];
    const tokenizer = new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
    );
    const model = new Uint8Array(await readFile(path));
    const inMemory = await quantize({ model, mode: "int8-blocks", tokenizer, calibration });
    expect(inMemory.parity).toEqual(parity);
    expect(inMemory.model).toEqual(new Uint8Array(await readFile(out)));
  });

  it("stops when the signal aborts, and leaves existing files as they were", async () => {
    const { parent, folder, out, run } = await tinyFile();
    await writeFile(out, "earlier");
    const before = await listing(parent);
    for (const stage of ["observe", "measure"]) {
      const abort = new AbortController();
      const onProgress = (now: { stage: string }) => now.stage === stage && abort.abort();
      const work = run("int8-blocks", { tokenizer: folder, onProgress, signal: abort.signal });
      await expect(work).rejects.toMatchObject({ code: "aborted" });
    }
    expect(await listing(parent)).toEqual(before);
  });

  it("can replace its source file", async () => {
    const { path, run } = await tinyFile();
    await run("int8-blocks", { out: path });
    expect(await operatorsOf(path)).toContain("MatMulNBits");
  });

  it("cuts texts to the model's number of positions", async () => {
    const { folder, run } = await tinyFile(64);
    expect((await run("int8-dynamic", { tokenizer: folder })).parity?.cases).toBe(probeTexts.length);
  });
});

describe("quantize refuses, and leaves existing files as they were:", () => {
  async function expectRefusal(
    { parent, out, run }: Awaited<ReturnType<typeof tinyFile>>,
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
    await expectRefusal(await tinyFile(), "int8-static", {}, { code: "calibration_missing", hint });
  });

  it.each<QuantizeMode>(["int8-dynamic", "int8-static"])(
    "texts of more tokens than there are positions: %s",
    async (mode) => {
      const model = await tinyFile(64);
      // This config.json belongs to another model. It declares more positions than the weights have.
      await writeFile(join(model.folder, "config.json"), '{"max_position_embeddings":512}');
      const expected = { code: "calibration_invalid", hint: expect.stringContaining("positions") };
      await expectRefusal(model, mode, { tokenizer: model.folder }, expected);
    },
  );

  it("a tokenizer with more tokens than the model", async () => {
    const model = await tinyFile();
    const { graph, envelope } = await readModelSource(model.path);
    shortenWords(graph);
    await writeOnnx(model.path, graph, envelope);
    const message = expect.stringMatching(/has the token id \d+, but the model's vocabulary size is 900/);
    await expectRefusal(model, "int8-dynamic", { tokenizer: model.folder }, { code: "checkpoint_invalid", message });
  });

  it("a model without input_ids when a tokenizer is given", async () => {
    const model = await tinyFile();
    const g = new NamedGraph("sounds", [{ name: "frames", dtype: "float32", shape: ["batch", "sequence", 16] }]);
    g.op("y", "MatMul", ["frames", g.constant("w", tensor("float32", [16, 16], new Float32Array(256).fill(0.5)))]);
    await writeOnnx(model.path, g.outputs("y"));
    const message = "The model has no input named input_ids. Its inputs are: frames.";
    await expectRefusal(model, "int8-dynamic", { tokenizer: model.folder }, { code: "inputs_unknown", message });
  });

  it("a source, a tokenizer and an output folder that do not exist", async () => {
    const model = await tinyFile();
    const nowhere = join(model.parent, "nowhere");
    await expectRefusal(model, "fp16", { model: nowhere }, { code: "onnx_missing" });
    await expectRefusal(model, "fp16", { tokenizer: nowhere }, { code: "checkpoint_missing" });
    await expectRefusal(model, "fp16", { out: join(nowhere, "x.onnx") }, { code: "out_unwritable" });
  });
});

function shortenWords(graph: Graph): void {
  const [words] = [...graph.constants()].filter(({ name }) => name === "token_table");
  if (!words?.constant) throw new Error("no token embedding table");
  const { shape, data } = words.constant;
  const width = shape[1] ?? 0;
  graph.replace(
    words,
    graph.constant("words", { dtype: "float32", shape: [900, width], data: data.slice(0, 4 * 900 * width) }),
  );
}

/**
 * Maximum difference of mean hidden states. A different order of additions changes the mean hidden states by 2e-7
 * (measured). A different rounding of the weights would change them by 1e-2.
 */
const FLOAT32_ROUNDING = 1e-5;

describeShared("corpus/qat-bert-pc-eager-l17", "quantizeModel of a model that was trained in int8", (folder) => {
  it("keeps its integer weights byte for byte, and its outputs", async () => {
    const out = join(await temporaryFolder(), "result.onnx");
    const source = join(folder, "model.onnx");
    const { parity } = await quantize({ model: source, out, mode: "int8-dynamic" });
    expect(parity?.maxAbsDiff).toBeLessThan(FLOAT32_ROUNDING);
    const graph = fromOnnx(await readOnnx(source));
    await fuseGraph(graph);
    const original = integerColumns(await integerMatMuls(graph));
    const kept = integerColumns(fromOnnx(await readOnnx(out)));
    expect(original.size).toBeGreaterThan(100);
    expect(original.difference(kept)).toEqual(new Set());
  });
});

/**
 * Returns the different columns that a graph's int8 weight matrices contain. Joining matrices side by side does not
 * change this set.
 */
function integerColumns(graph: Graph): Set<string> {
  const constants = [...graph.constants()].flatMap(({ constant }) => constant ?? []);
  const weights = constants.filter(({ dtype, shape }) => dtype === "int8" && shape.length === 2);
  return new Set(
    weights.flatMap((weight) => {
      const [rows = 0, columns = 0] = weight.shape;
      const numbers = numbersOf(weight);
      const column = (at: number) => Array.from({ length: rows }, (_, row) => numbers[row * columns + at]).join();
      return Array.from({ length: columns }, (_, at) => column(at));
    }),
  );
}
