import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { preparable } from "#test/fixtures/preparable.ts";
import { preparableConfig, type TinyFolderOptions } from "#test/fixtures/tiny-bert.ts";
import {
  projectSentenceEmbedding,
  scaleSentenceEmbedding,
  tinyExport,
  withSentenceEmbedding,
} from "#test/fixtures/tiny-export.ts";
import type { Pooling } from "../../artifact/manifest.ts";
import type { VectorHead } from "../../runtime/engine/engine.ts";
import type { Graph } from "../graph/graph.ts";
import { describeModel } from "./describe-model.ts";
import { readTextModel } from "./text-model.ts";

const read = async (folder: string) => readTextModel(await describeModel(folder));

const ofMean = (normalize: boolean) => ({
  "modules.json": JSON.stringify(
    ["Transformer", "Pooling", ...(normalize ? ["Normalize"] : [])].map((kind, i) => ({
      path: i === 0 ? "" : `${i}_${kind}`,
      type: `sentence_transformers.models.${kind}`,
    })),
  ),
  "1_Pooling/config.json": '{"pooling_mode_mean_tokens":true}',
});
const [mean, cls]: readonly VectorHead[] = [
  { pooling: "mean", normalize: true },
  { pooling: "cls", normalize: true },
];

describe("the pooling of an export that has sentence_embedding", () => {
  it.each<[Pooling, boolean]>([
    ["mean", true],
    ["mean", false],
    ["cls", true],
    ["cls", false],
    ["max", true],
    ["last", false],
  ])("is that of this output: %s, normalized %s", async (pooling, normalize) => {
    const { folder } = await tinyExport((graph) => withSentenceEmbedding(graph, { pooling, normalize }));
    const { task, assumed } = await read(folder);
    expect(task).toMatchObject({ task: "embed", pooling, normalize });
    expect(assumed).toEqual([
      expect.stringMatching(/^There is no modules.json: .* as in the output sentence_embedding of model.onnx\.$/),
    ]);
  });

  it.each<Pooling>(["mean", "cls"])("is that of this output in a file of fixed sizes: %s", async (pooling) => {
    const { folder } = await tinyExport((original) => {
      const graph = withSentenceEmbedding(original, { pooling, normalize: true });
      graph.declarations.clear();
      for (const input of graph.inputs) input.shape = [2, 40];
      return graph;
    });
    expect(await read(folder)).toMatchObject({ task: { pooling, normalize: true }, maxTokens: 40 });
  });

  it("is that of modules.json if both agree", async () => {
    const { folder } = await tinyExport((graph) => withSentenceEmbedding(graph, mean as VectorHead), {
      files: ofMean(true),
    });
    expect(await read(folder)).toMatchObject({ task: mean, assumed: [] });
  });

  it.each([
    [cls, true, "the first hidden state (cls), normalized"],
    [mean, false, "the mean of the hidden states, normalized"],
  ])("is refused if modules.json says another one: %j", async (head, normalize, words) => {
    const { folder } = await tinyExport((graph) => withSentenceEmbedding(graph, head as VectorHead), {
      files: ofMean(normalize),
    });
    await expect(read(folder)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining(`But the output sentence_embedding of ${folder}/model.onnx is ${words}.`),
      hint: expect.stringContaining("remove modules.json"),
    });
  });

  it("is refused if modules.json above the Transformer's folder says another one", async () => {
    const { folder } = await tinyExport((graph) => withSentenceEmbedding(graph, cls as VectorHead));
    const files = ofMean(true);
    const root = await folderWith({ ...files, "modules.json": files["modules.json"].replace('""', '"0_Transformer"') });
    const inner = join(root, "0_Transformer");
    await rename(folder, inner);
    await expect(read(root)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringMatching(`^${root}/modules.json says .*${inner}/model.onnx is the first hidden state`),
      hint: expect.stringContaining(`remove modules.json and prepare ${inner}.`),
    });
    await rm(join(root, "modules.json"));
    expect(await read(inner)).toMatchObject({ task: cls });
  });

  it("is refused if the output is computed in another way", async () => {
    const raw = { pooling: "mean", normalize: false } as const;
    const [longer, projected] = await Promise.all([
      tinyExport((graph) => scaleSentenceEmbedding(withSentenceEmbedding(graph, raw), 3)),
      tinyExport((graph) => projectSentenceEmbedding(withSentenceEmbedding(graph, raw), preparableConfig.hidden_size)),
    ]);
    await expect(read(longer.folder)).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringContaining("nearest is mean, with a cosine of 1.000 and 3.00 times the norm"),
      hint: expect.stringContaining(
        `npx bert-edge quantize "${longer.path}" ./int8.onnx --mode int8-dynamic --tokenizer "${longer.folder}"`,
      ),
    });
    await expect(read(projected.folder)).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringContaining("it has 8 numbers, and a hidden state 16"),
    });
  });
});

describe("the pooling of an export with an output of another name", () => {
  const named = (graph: Graph, name: string) => {
    const { value } = graph.outputs.pop() as Graph["outputs"][number];
    graph.outputs.push({ name, value, declaration: undefined });
    return graph;
  };
  const cls = { pooling: "cls", normalize: true } as const;

  it("is that of this output if it is one of the poolings", async () => {
    const { folder } = await tinyExport((graph) => named(withSentenceEmbedding(graph, cls), "text"));
    const { task, assumed } = await read(folder);
    expect(task).toMatchObject(cls);
    expect(assumed).toEqual([expect.stringContaining("as in the output text of model.onnx")]);
  });

  it.each<[string, (graph: Graph) => Graph, TinyFolderOptions, string]>([
    ["the output is no pooling", (graph) => scaleSentenceEmbedding(withSentenceEmbedding(graph, cls), 3), {}, "text"],
    ["modules.json says another one", (graph) => withSentenceEmbedding(graph, cls), { files: ofMean(true) }, "text"],
    ["it is a usual output of encoders", (graph) => withSentenceEmbedding(graph, cls), {}, "pooler_output"],
  ])("is not that of this output if %s", async (_, edit, options, name) => {
    const { folder } = await tinyExport((graph) => named(edit(graph), name), options);
    const { task, assumed } = await read(folder);
    expect(task).toMatchObject(mean as VectorHead);
    const unused = `Outputs of model.onnx that are not used: ${name}.`;
    expect(assumed.includes(unused)).toBe(name === "text");
  });
});

describe("the pooling of other models", () => {
  it("is assumed if nothing says it", async () => {
    const { folder } = await tinyExport((graph) => graph);
    expect(await read(folder)).toMatchObject({
      task: mean,
      assumed: [
        "There is no modules.json: vectors are the mean of the hidden states, normalized. --pooling chooses another pooling.",
      ],
    });
  });
});

describe("a folder without modules.json", () => {
  it.each([
    ["a file that names the class", { "config_sentence_transformers.json": '{"model_type":"SentenceTransformer"}' }],
    ["a Pooling module", { "1_Pooling/config.json": '{"pooling_mode":"cls"}' }],
  ])("has lost it if there is %s", async (_, files) => {
    const { folder } = await preparable({ files });
    await expect(read(folder)).rejects.toMatchObject({
      code: "checkpoint_missing",
      hint: expect.stringContaining("--pooling mean"),
    });
    const chosen = await readTextModel(await describeModel(folder, { pooling: "mean" }));
    expect(chosen).toMatchObject({ task: mean, assumed: [] });
  });

  it("has lost it too if its export says how to pool, which then decides", async () => {
    const files = { "config_sentence_transformers.json": '{"model_type":"SentenceTransformer"}' };
    const { folder } = await tinyExport((graph) => withSentenceEmbedding(graph, cls as VectorHead), { files });
    expect(await read(folder)).toMatchObject({ task: cls });
  });
});
