import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Edit, fill, listing, type Preparable, preparable, quick, scale, set } from "#test/fixtures/preparable.ts";
import { runs, sampled } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { TinyFolderOptions } from "#test/fixtures/tiny-bert.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, sentenceEncoder, type Target, type TargetName } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import type { PrepareOptions } from "../commands/prepare.ts";
import { quantize } from "../commands/quantize.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { readModelSource } from "../model/model-source.ts";
import { tokenizeTexts } from "../model/tokenize-texts.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { QuantizeMode } from "../stages/quantize.ts";
import { FP16_LIMIT, INT8_LIMIT } from "./limits.ts";
import { probeTexts } from "./probe-texts.ts";

/**
 * `deep` has two layers. `wide` also has more channels, for tests in which one of many channels has huge weights.
 */
const deep = { num_hidden_layers: 2, max_position_embeddings: 512 };
const wide = {
  ...deep,
  hidden_size: 64,
  intermediate_size: 128,
  num_attention_heads: 4,
};
/**
 * `allTokens` has a large vocabulary, for tests in which the quantized model must miss the limits. With a small
 * vocabulary, the texts would contain only frequent tokens, and the quantized model could reach the limits.
 */
const allTokens = { ...wide, vocab_size: 30_522 };
const layer0 = "encoder.layer.0";
const layer1 = "encoder.layer.1";
const matricesOf = (layer: string) =>
  ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
    .concat("intermediate.dense", "output.dense")
    .map((name) => `${layer}.${name}.weight`);

const sabotaged = (edit: Edit, config: TinyFolderOptions["config"] = deep) =>
  preparable({ config: { ...config }, edit });

/** Runs the model file of every target, and expects that the results reach the accuracy limits of the target. */
async function expectLimitsReached({ folder, out }: Preparable): Promise<Manifest> {
  const { manifest, read } = await openFolder(out);
  const { graph } = await readModelSource(folder);
  const tokenizer = await loadTokenizer(manifest, read);
  const ids = tokenizeTexts(manifest.name, tokenizer, manifest.maxTokens, manifest.vocabulary)(probeTexts);
  const { dimensions } = sentenceEncoder(manifest);
  const vectors = async (name: Target["engine"] | undefined, bytes: Uint8Array<ArrayBuffer>) => {
    const engine = name ? await engineOnThisMachine(name) : ortNodeEngine({ threads: 1, optimize: false });
    const session = await engine.load(oneModel(bytes));
    const hiddenStates = await session.run(ids);
    await session.release();
    return hiddenStates.map((rows) => meanOf(rows, dimensions));
  };
  const wanted = await vectors(undefined, encodeOnnx(graph));
  for (const [name, target] of Object.entries(manifest.targets) as [TargetName, Target][]) {
    const found = await vectors(target.engine, await read(target.model));
    const cosines = wanted.map((vector, i) => cosineOf(vector, found[i] ?? []));
    const limit = target?.precision === "fp16" ? FP16_LIMIT : INT8_LIMIT;
    expect(cosines).toHaveLength(probeTexts.length);
    expect(Math.min(...cosines), `${name}, the worst text`).toBeGreaterThanOrEqual(limit.minCosine);
    expect(sum(cosines) / cosines.length, `${name}, the mean`).toBeGreaterThanOrEqual(limit.meanCosine);
  }
  return manifest;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
function meanOf(rows: Float32Array, width: number): number[] {
  const total = new Array<number>(width).fill(0);
  rows.forEach((value, i) => {
    total[i % width] = (total[i % width] ?? 0) + value;
  });
  return total;
}
const cosineOf = (a: readonly number[], b: readonly number[]) =>
  sum(a.map((x, i) => x * (b[i] ?? Number.NaN))) / Math.hypot(...a) / Math.hypot(...b);

/** Expects that `prepare` rejects and leaves all files as they were. Returns the error. */
async function refused({ parent, run }: Preparable, options?: Partial<PrepareOptions>): Promise<BertEdgeError> {
  const before = await listing(parent);
  const error = await run(options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BertEdgeError);
  expect(await listing(parent)).toEqual(before);
  return error as BertEdgeError;
}

/** Returns the layers that an `accuracy_gate` error lists. */
const listed = ({ message }: BertEdgeError) =>
  [...message.matchAll(/\n {2}[\d.]+|\n {2}NaN/g)].map(({ index }) => message.slice(index).trim().split(/\s+/)[1]);

describe("one channel that has exploded", () => {
  it.each<[string, Edit]>([
    ["in the gain of the embeddings, by 10²", scale("embeddings.LayerNorm.weight", 1e2)],
    ["in the gain of an attention, by 10⁴", scale(`${layer0}.attention.output.LayerNorm.weight`, 1e4)],
    ["in the last gain, by 10⁶", scale(`${layer1}.output.LayerNorm.weight`, 1e6)],
    ["in the token embedding table, by 10⁶", scale("embeddings.word_embeddings.weight", 1e6)],
  ])("%s, is handled by every target in eight bits, without a kept layer", async (_, edit) => {
    const model = await sabotaged(edit, wide);
    await model.run();
    const { targets } = await expectLimitsReached(model);
    expect(Object.keys(targets)).toEqual(["edge", "regional-cpu", "regional-gpu"]);
    expect([targets.edge?.kept, targets["regional-cpu"]?.kept]).toEqual([[], []]);
  });

  it.each<[string, Edit, string]>([
    [
      "in the input of a linear layer",
      scale(`${layer0}.intermediate.dense.weight`, 1e4, "row"),
      "layer.0.output.product",
    ],
    [
      "in the queries of an attention",
      scale(`${layer0}.attention.self.query.weight`, 1e4, "row"),
      "layer.0.attention.context_1",
    ],
  ])("%s makes the edge keep at most that layer in float32", async (_, edit, layer) => {
    const model = await sabotaged(edit, wide);
    await model.run({ targets: ["edge"] });
    const { targets } = await expectLimitsReached(model);
    expect([[], [layer]]).toContainEqual(targets.edge?.kept);
  });

  it("is refused when it outweighs all others; the error lists its layer among the worst", async () => {
    const model = await sabotaged(scale(`${layer0}.output.dense.weight`, 1e4, "row"), allTokens);
    const error = await refused(model, { targets: ["edge"] });
    expect(error).toMatchObject({
      code: "accuracy_gate",
      message: expect.stringMatching(/^edge on ort-web differs too much/),
    });
    expect(listed(error).slice(0, 4)).toContain("layer.0.output.product");
    expect(listed(error)).toHaveLength(8);
  });

  it("makes the GPU target keep layers in float32 that overflow fp16", async () => {
    const model = await sabotaged(scale("embeddings.LayerNorm.weight", 1e6), wide);
    await model.run({ targets: ["regional-gpu"] });
    const { targets } = await expectLimitsReached(model);
    expect(targets["regional-gpu"]?.kept?.length).toBeGreaterThan(0);
  });
});

describe("zeros", () => {
  const zeroRows: Edit = (values) => {
    values.get("embeddings.word_embeddings.weight")?.values.fill(0, 0, 16 * 2000);
    values.get(`${layer0}.intermediate.dense.weight`)?.values.fill(0, 0, 16 * 5);
  };
  it.each<[string, Edit]>([
    ["in a column of a matrix", scale(`${layer0}.intermediate.dense.weight`, 0)],
    ["in rows of a matrix and of the token embedding table", zeroRows],
    ["in a whole matrix", fill(0, `${layer0}.output.dense.weight`)],
    ["in all matrices of a layer", fill(0, ...matricesOf(layer0))],
  ])("%s are accepted, and all targets reach their limits", async (_, edit) => {
    const model = await sabotaged(edit);
    await model.run({ targets: ["edge", "regional-gpu"] });
    await expectLimitsReached(model);
  });
});

describe("NaN and infinite numbers", () => {
  const tensors = [
    `${layer1}.output.dense.weight`,
    `${layer0}.intermediate.dense.bias`,
    `${layer1}.output.LayerNorm.weight`,
    "embeddings.word_embeddings.weight",
  ];
  const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const cases = tensors.flatMap((name) => values.map((value) => [value, name] as const));

  it.each(sampled(cases, 2))("are refused by name in a checkpoint: %d in %s", async (value, name) => {
    const error = await refused(await sabotaged(set(name, value)));
    expect(error).toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining(`${name} holds NaN`),
    });
  });

  it("in activations are refused; the error names the layer that reads them", async () => {
    const error = await refused(
      await sabotaged(fill(1e25, `${layer0}.intermediate.dense.weight`, `${layer0}.output.dense.weight`)),
    );
    expect(error).toMatchObject({
      code: "calibration_invalid",
      message: expect.stringContaining("layer.0.output.product"),
    });
  });

  it("in the last layer normalization are refused", async () => {
    const error = await refused(await sabotaged(fill(3e38, `${layer1}.output.LayerNorm.weight`)));
    expect(error).toMatchObject({ code: "vector_invalid", message: expect.stringContaining("after layer.1.output") });
  });

  it("in fp16 only make the GPU target keep the layer in float32", async () => {
    const model = await sabotaged(fill(6e4, `${layer0}.intermediate.dense.weight`));
    await model.run({ targets: ["regional-gpu"] });
    const { targets } = await expectLimitsReached(model);
    expect(targets["regional-gpu"]?.kept).toContain("layer.0.output.product");
  });
});

describe("a constant layer", () => {
  it.each<[string, Edit, RegExp]>([
    ["at the beginning", fill(0, "embeddings.LayerNorm.weight"), /the input of layer\.0\.attention\S+ is the same/],
    ["in the middle", fill(0, `${layer0}.output.LayerNorm.weight`), /the input of layer\.1\.attention\S+ is the same/],
    [
      "at the end",
      fill(0, `${layer1}.output.LayerNorm.weight`),
      /the input of layer\.1\.output\S+ differs between texts/,
    ],
    [
      "that returns zeros",
      fill(0, `${layer1}.output.LayerNorm.weight`, `${layer1}.output.LayerNorm.bias`),
      /the input of layer\.1\.output\S+ differs between texts/,
    ],
    [
      "in the embedding tables",
      fill(0.1, "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"),
      /the input of layer\.0\.attention\S+ is the same/,
    ],
  ])("%s is refused by name when no output depends on the text", async (_, edit, place) => {
    const error = await refused(await sabotaged(edit));
    expect(error).toMatchObject({ code: "model_constant", message: expect.stringMatching(place) });
  });

  it.each<[string, Edit]>([
    ["with equal weights", fill(0.2, ...matricesOf(layer0))],
    ["in the token embedding table, while positions differ", fill(0.1, "embeddings.word_embeddings.weight")],
  ])("%s is accepted as long as outputs depend on the text", async (_, edit) => {
    const model = await sabotaged(edit);
    await model.run({ targets: ["edge", "regional-gpu"] });
    await expectLimitsReached(model);
  });
});

it("any sabotage of any tensor is refused without writing a file, or reaches the limits", async () => {
  const names = [...matricesOf(layer0), "embeddings.word_embeddings.weight", "embeddings.LayerNorm.weight"];
  const sabotage = fc.oneof(
    fc.record({ how: fc.constant(scale), by: fc.constantFrom(-1e2, 1e3, 1e5, 1e8, 1e20) }),
    fc.record({ how: fc.constant(set), by: fc.constantFrom(Number.NaN, Number.NEGATIVE_INFINITY, -3e38, 1e-40) }),
    fc.record({ how: fc.constant((name: string, by: number) => fill(by, name)), by: fc.constantFrom(0, -1, 1e6) }),
  );
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), sabotage, async (name, { how, by }) => {
      const model = await preparable({ edit: how(name, by) });
      const before = await listing(model.parent);
      const code = await model.run({ targets: ["edge"] }).then(
        () => "ships",
        ({ code }: BertEdgeError) => code,
      );
      outcomes.add(code);
      expect([
        "ships",
        "accuracy_gate",
        "checkpoint_invalid",
        "calibration_invalid",
        "vector_invalid",
        "model_constant",
      ]).toContain(code);
      if (code === "ships") await expectLimitsReached(model);
      else expect(await listing(model.parent)).toEqual(before);
    }),
    seeded(runs(6, 24)),
  );
  expect(outcomes.size).toBeGreaterThanOrEqual(3);
});

describe("an ONNX file that no importer has checked", () => {
  const modes: readonly QuantizeMode[] = ["int8-dynamic", "int8-blocks", "int8-static", "fp16"];

  /**
   * Writes a checkpoint's graph as an ONNX file. Also writes a file at the path of the result, to test that a failure
   * does not change it.
   */
  async function fileOf(model: Preparable, change: (graph: Graph) => void = () => {}) {
    const { graph, envelope } = await readModelSource(model.folder);
    change(graph);
    const path = join(model.parent, "model.onnx");
    await writeOnnx(path, graph, envelope);
    const result = join(model.parent, "result.onnx");
    await writeFile(result, "earlier");
    return { path, result, before: await listing(model.parent) };
  }

  const broken = (name: string, number: number) => (graph: Graph) => {
    const [value] = [...graph.constants()].filter((constant) => constant.name === name);
    const numbers = toFloat32(value?.constant as Tensor).slice();
    numbers[3] = number;
    graph.replace(
      value as Value,
      graph.constant(`${name}.broken`, tensor("float32", value?.constant?.shape ?? [], numbers)),
    );
  };

  it.each([
    ["layer.1.output.weight", Number.NaN],
    ["layer.0.intermediate.bias", Number.POSITIVE_INFINITY],
    ["layer.1.norm.gamma", Number.NaN],
    ["token_table", Number.NEGATIVE_INFINITY],
  ])(
    "is refused in every mode, with and without comparison; the error names the weight: %s with %d",
    async (name, value) => {
      const model = await sabotaged(() => {});
      const { path, result, before } = await fileOf(model, broken(name, value));
      const tokenizer = model.folder;
      for (const mode of modes) {
        // Static int8 needs a tokenizer, for its calibration texts.
        const without = mode === "int8-static" ? { tokenizer } : {};
        for (const more of [without, { tokenizer }, { ...without, checkParity: false }]) {
          await expect(quantize({ model: path, out: result, mode, ...more })).rejects.toMatchObject({
            code: "weights_invalid",
            message: expect.stringContaining(`${name}.broken, which `),
          });
        }
      }
      expect(await listing(model.parent)).toEqual(before);
    },
  );

  it.each<[string, Edit, QuantizeMode, object]>([
    ["outputs that never change", fill(0, `${layer1}.output.LayerNorm.weight`), "fp16", { code: "model_constant" }],
    [
      "activations beyond float32",
      fill(1e25, `${layer0}.intermediate.dense.weight`, `${layer0}.output.dense.weight`),
      "fp16",
      { code: "vector_invalid" },
    ],
  ])("is refused for %s, like its folder, and all files stay as they were", async (_, edit, mode, expected) => {
    const model = await sabotaged(edit);
    const { path, result, before } = await fileOf(model);
    for (const source of [path, model.folder]) {
      const work = quantize({
        model: source,
        out: result,
        mode,
        tokenizer: model.folder,
        calibration: quick.calibration,
      });
      await expect(work).rejects.toMatchObject(expected);
    }
    expect(await listing(model.parent)).toEqual(before);
  });

  it("is refused when one channel outweighs all others; the error lists its layer among the worst", async () => {
    const edit = scale(`${layer0}.output.dense.weight`, 1e4, "row");
    const model = await sabotaged(edit, { ...allTokens, num_hidden_layers: 1 });
    const { path, result, before } = await fileOf(model);
    const work = quantize({ model: path, out: result, mode: "int8-dynamic", tokenizer: model.folder });
    const error = await work.catch((thrown: BertEdgeError) => thrown);
    expect(error).toMatchObject({ code: "accuracy_gate" });
    expect(listed(error as BertEdgeError).slice(0, 3)).toContain("layer.0.output.product");
    expect(await listing(model.parent)).toEqual(before);
  });

  it("keeps at most the layer of an exploded channel in float32", async () => {
    const model = await sabotaged(scale(`${layer0}.intermediate.dense.weight`, 1e6, "row"), {
      ...wide,
      num_hidden_layers: 1,
    });
    const { path, result } = await fileOf(model);
    const report = await quantize({
      model: path,
      out: result,
      mode: "int8-dynamic",
      tokenizer: model.folder,
      calibration: quick.calibration,
    });
    expect([[], ["layer.0.output.product"]]).toContainEqual(report.kept);
    expect(report.parity?.minCosine).toBeGreaterThanOrEqual(INT8_LIMIT.minCosine);
  });
});
