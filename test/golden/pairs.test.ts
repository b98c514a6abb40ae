import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { headGraph } from "#sdk/compile/checkpoint/head-graph.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { caseOf, writeClassifier } from "../fixtures/classifier-case.ts";
import { edgeFile } from "../fixtures/edge-file.ts";
import { readHeadedModel } from "../fixtures/read-checkpoint.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import golden from "./pairs.json" with { type: "json" };

/** Maximum difference from transformers' logits, which are stored with six decimals. Measured: at most 8.6e-7. */
const FLOAT32_ROUNDING = 1e-5;
/** Largest change of a logit by int8, for tiny classifiers with random weights. Measured: at most 0.052. */
const INT8_NOISE = 0.1;
/** Minimum change of a logit when all tokens get the token type 0. Measured: at least 0.139. */
const VISIBLE = 0.1;

const pairs = golden.pairs.map(({ ids, secondFrom }) => ({ ids: Int32Array.from(ids), secondFrom }));
const texts = pairs.map(({ ids }) => ids);

describe.each(Object.entries(golden.logits))("a classifier of pairs: %s", (name, logits) => {
  const load = async () => {
    const folder = join(await temporaryFolder(), "model");
    await writeClassifier(folder, caseOf(name));
    return readHeadedModel(folder, "sequence-classification");
  };
  /** Returns the largest difference from transformers' logits. */
  const difference = (rows: readonly Float32Array[]) =>
    Math.max(...rows.flatMap((row, i) => [...row].map((value, j) => Math.abs(value - (logits[i]?.[j] ?? Number.NaN)))));

  it("computes transformers' logits in float32", async () => {
    const model = await load();
    const session = await ortNodeEngine({ threads: 1 }).load(oneModel(encodeOnnx(headGraph(model))));
    expect(difference(await session.run(pairs))).toBeLessThan(FLOAT32_ROUNDING);
    if (model.config.tokenTypes > 1) expect(difference(await session.run(texts))).toBeGreaterThan(VISIBLE);
  });

  // The engine rotates heads of a multiple of eight numbers.
  it.skipIf(name === "nomic_bert")("computes nearly the same logits on the edge engine", async () => {
    const model = await load();
    const graph = headGraph(model);
    await fuseGraph(graph);
    const size = { maxTokens: 12, vocabulary: model.config.vocabularySize, pairs: true };
    const session = await (await engineOnThisMachine("wasm")).load(oneModel(await edgeFile(graph, size)));
    expect(difference(await session.run(pairs))).toBeLessThan(INT8_NOISE);
  });
});
