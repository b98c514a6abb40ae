import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listing } from "#test/fixtures/preparable.ts";
import { quantizable } from "#test/fixtures/quantizable.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { FP16_LIMIT, INT8_LIMIT, type Limit, RANDOM_TOKENS_LIMIT, STATIC_LIMIT } from "../accuracy/limits.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { numbersOf } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { integerMatMuls } from "../quantize/qdq/integer-matmuls.ts";
import type { QuantizeMode } from "../stages/quantize.ts";
import type { Progress } from "../stages/stage.ts";
import { quantize } from "./quantize.ts";

/** Modes with their limits, an operator of their results, and the model's number of positions. Texts are cut to it. */
const modes: readonly (readonly [QuantizeMode, Limit, string, number])[] = [
  ["int8-dynamic", INT8_LIMIT, "DynamicQuantizeMatMul", 64],
  ["int8-blocks", INT8_LIMIT, "MatMulNBits", 512],
  ["int8-static", STATIC_LIMIT, "QuantizeLinear", 512],
  ["fp16", FP16_LIMIT, "Attention", 512],
];

describe("quantize", () => {
  it.each(modes)("%s of a file agrees with the original on texts", async (mode, limit, operator, positions) => {
    const { folder, out, operators, run } = await quantizable({ positions });
    const seen: Progress[] = [];
    const report = await run(mode, { tokenizer: folder, onProgress: (progress) => seen.push(progress) });
    expect(report).toMatchObject({ mode, kept: [], parity: { cases: probeTexts.length } });
    expect(report.parity?.meanCosine).toBeGreaterThanOrEqual(limit.meanCosine);
    expect(report.parity?.minCosine).toBeGreaterThanOrEqual(limit.minCosine);
    expect(report.bytes.after).toBeLessThan(report.bytes.before);
    expect(report.ranges).toBe(mode === "int8-static" ? "least error" : undefined);
    expect(await operators(out)).toContain(operator);
    expect(new Set(report.stages.map(({ stage }) => stage))).toEqual(new Set(seen.map(({ stage }) => stage)));
    for (const work of ["observe activations", "measure "]) {
      const shares = seen.filter(({ message }) => message.startsWith(work)).flatMap(({ fraction }) => fraction ?? []);
      expect(
        shares.toSorted((a, b) => a - b),
        work,
      ).toEqual(shares);
      expect(shares.at(-1), work).toBe(1);
    }
  });

  it("of a model folder gives the same result as of its graph's file", async () => {
    const { folder, run } = await quantizable();
    const calibration = ["a few words", "and some more"];
    const { parity } = await run("int8-dynamic", { tokenizer: folder, calibration });
    expect(parity?.cases).toBe(probeTexts.length);
    expect((await run("int8-dynamic", { model: folder, calibration })).parity).toEqual(parity);
  });

  it.each<QuantizeMode>(["int8-dynamic", "int8-blocks"])(
    "%s without a tokenizer is compared on random tokens",
    async (mode) => {
      const { parity } = await (await quantizable()).run(mode);
      expect(parity?.cases).toBeGreaterThan(5);
      expect(parity?.meanCosine).toBeGreaterThanOrEqual(RANDOM_TOKENS_LIMIT.meanCosine);
    },
  );

  it.each<QuantizeMode>(["int8-dynamic", "int8-static"])(
    "refuses texts of more tokens than there are positions, and leaves existing files as they were: %s",
    async (mode) => {
      const { parent, folder, out, run } = await quantizable({ positions: 64 });
      await writeFile(out, "earlier");
      // This config.json belongs to another model. It declares more positions than the weights have.
      await writeFile(join(folder, "config.json"), '{"max_position_embeddings":512}');
      const before = await listing(parent);
      const expected = { code: "calibration_invalid", hint: expect.stringContaining("positions") };
      await expect(run(mode, { tokenizer: folder })).rejects.toMatchObject(expected);
      expect(await listing(parent)).toEqual(before);
    },
  );
});

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
