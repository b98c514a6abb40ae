import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseOf, tokenHeadCases, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { folderWith, writeFiles } from "#test/fixtures/folder-with.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { describeModel, type TaskChoice } from "./describe-model.ts";

/** A tokenizer.json with a mask token. */
const withMask = JSON.stringify({ added_tokens: [{ id: 0, content: "[MASK]" }] });

/** Writes a tiny BERT whose config.json has other keys. Returns its folder. */
async function modelWith(keys: object, files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, caseOf("bert"), { keys });
  await writeFile(join(folder, "tokenizer.json"), withMask);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), content instanceof Uint8Array ? content : JSON.stringify(content));
  }
  return folder;
}

const ofClass = (architecture: string, files?: Readonly<Record<string, unknown>>) =>
  modelWith({ architectures: [architecture] }, files);

const mask = { id: 0, token: "[MASK]" };

const splade = {
  "modules.json": [
    { path: "", type: "sentence_transformers.sparse_encoder.models.MLMTransformer" },
    { path: "1_SpladePooling", type: "sentence_transformers.sparse_encoder.models.SpladePooling" },
  ],
};

describe("the task of a model", () => {
  it.each<[string, TaskChoice, object]>([
    ["BertModel", {}, { task: "embed", pooling: "mean", normalize: true, dimensions: 8 }],
    ["BertForMaskedLM", {}, { task: "embed", pooling: "mean", normalize: true, dimensions: 8 }],
    ["BertForMaskedLM", { task: "fill-mask" }, { task: "fill-mask", mask }],
    ["BertForMaskedLM", { task: "sparse" }, { task: "sparse" }],
    ["BertForSequenceClassification", {}, { task: "classify", labels: ["no", "maybe", "yes"], input: "text" }],
    ["BertForSequenceClassification", { input: "pair" }, { task: "classify", input: "pair" }],
    ["BertForTokenClassification", {}, { task: "tag", labels: ["no", "maybe", "yes"] }],
    ["BertForQuestionAnswering", {}, { task: "answer" }],
  ])("of the class %s with %j is %j", async (architecture, choice, task) => {
    expect((await describeModel(await ofClass(architecture), choice)).task).toMatchObject(task);
  });

  it("is sparse if modules.json says so", async () => {
    const folder = await ofClass("BertForMaskedLM", splade);
    expect(await describeModel(folder)).toMatchObject({ task: { task: "sparse" }, assumed: [] });
    expect((await describeModel(folder, { task: "fill-mask" })).task).toEqual({ task: "fill-mask", mask });
  });

  it("is pooled as chosen if there is no modules.json", async () => {
    const choice = { pooling: "cls", normalize: false } as const;
    const found = await describeModel(await ofClass("BertModel"), choice);
    expect(found).toMatchObject({ task: choice, isPoolingAssumed: false });
    expect((await describeModel(await ofClass("BertModel"))).isPoolingAssumed).toBe(true);
    const classifier = describeModel(await ofClass("BertForSequenceClassification"), choice);
    await expect(classifier).rejects.toMatchObject({ code: "setting_invalid" });
  });

  it("has the prompts of its files, or else those that are chosen", async () => {
    const prompts = { query: "query: " };
    const own = { "config_sentence_transformers.json": { prompts: { search: "search: " } } };
    expect((await describeModel(await ofClass("BertModel", {}), { prompts })).task).toMatchObject({ prompts });
    expect((await describeModel(await ofClass("BertModel", own), { prompts })).task).toMatchObject({
      prompts: { search: "search: " },
    });
  });

  it("has the mask token that tokenizer_config.json names, and needs one to fill masks", async () => {
    const choice = { task: "fill-mask" } as const;
    const added_tokens = [
      { id: 0, content: "[MASK]" },
      { id: 1, content: "<blank>" },
    ];
    for (const mask_token of ["<blank>", { content: "<blank>", lstrip: true }]) {
      const files = {
        "tokenizer.json": { added_tokens, model: { vocab: {} } },
        "tokenizer_config.json": { mask_token },
      };
      const { task } = await describeModel(await ofClass("BertForMaskedLM", files), choice);
      expect(task).toMatchObject({ mask: { id: 1, token: "<blank>" } });
    }
    for (const tokenizer of [{}, { added_tokens: [] }]) {
      const folder = await ofClass("BertForMaskedLM", { "tokenizer.json": tokenizer });
      await expect(describeModel(folder, choice)).rejects.toMatchObject({ code: "checkpoint_invalid" });
    }
  });

  it("is token-vectors for a Dense module without Pooling, and for Stanford's ColBERT", async () => {
    const weights = safetensorsFile({ "linear.weight": float32Tensor([4, 8], new Float32Array(32).fill(1)) });
    const pylate = await ofClass("BertModel", {
      "modules.json": [
        { path: "", type: "sentence_transformers.models.Transformer" },
        { path: "1_Dense", type: "sentence_transformers.models.Dense" },
      ],
      "1_Dense/config.json": {
        ...{ in_features: 8, out_features: 4, bias: false },
        activation_function: "torch.nn.modules.linear.Identity",
      },
      "1_Dense/model.safetensors": weights,
    });
    const stored = caseOf("bert");
    const stanford = join(await temporaryFolder(), "model");
    const tensors = `${stored.tensors} linear.weight=4x8`;
    await writeClassifier(stanford, { ...stored, tensors }, { keys: { architectures: ["HF_ColBERT"] } });
    const tokens = [103, 104, 105].map((id, i) => ({ id, content: ["[MASK]", "[unused0]", "[unused1]"][i] }));
    const vocab = Object.fromEntries(tokens.map(({ id, content }) => [content, id]));
    await writeFile(join(stanford, "tokenizer.json"), JSON.stringify({ added_tokens: tokens, model: { vocab } }));
    const protocol = {
      query: { length: 12, marker: 104, expansion: { token: 103, isAttended: false } },
      document: { length: 16, marker: 105, skipped: [] },
    };
    await writeFile(join(stanford, "artifact.metadata"), JSON.stringify({ query_maxlen: 12 }));
    for (const [folder, own] of [
      [pylate, {}],
      [stanford, { protocol }],
    ] as const) {
      const { task, readGraph } = await describeModel(folder);
      expect(task).toEqual({ task: "token-vectors", dimensions: 4, ...own });
      const { graph } = await readGraph();
      expect(graph.outputs.map(({ value }) => value.shape?.at(-1))).toEqual([4]);
    }
  });

  it("names the module of a folder without config.json", async () => {
    const folder = await temporaryFolder();
    const type = "sentence_transformers.models.StaticEmbedding";
    await writeFile(join(folder, "modules.json"), JSON.stringify([{ path: "0_StaticEmbedding", type }]));
    await expect(describeModel(folder)).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(type),
    });
  });

  it.each(["CrossEncoder", "SparseEncoder", "MultiVectorEncoder", "ColBERT"])(
    "is refused for a %s that has lost its modules.json",
    async (model_type) => {
      const folder = await ofClass("BertModel", { "config_sentence_transformers.json": { model_type } });
      await expect(describeModel(folder)).rejects.toMatchObject({
        code: "checkpoint_missing",
        message: expect.stringContaining(`it is a ${model_type}`),
      });
    },
  );

  it("is classify for a cross-encoder, which needs no modules.json", async () => {
    const files = { "config_sentence_transformers.json": { model_type: "CrossEncoder" } };
    const { task } = await describeModel(await ofClass("BertForSequenceClassification", files));
    expect(task.task).toBe("classify");
  });

  it("has what its files say about the pooling of prompts, and a word about keys that nobody reads", async () => {
    const { task, unknown } = await describeModel(
      await ofClass("BertModel", {
        "modules.json": [
          { path: "", type: "sentence_transformers.models.Transformer" },
          { path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
        ],
        "1_Pooling/config.json": { pooling_mode: "mean", include_prompt: false },
        "config_sentence_transformers.json": { mood: "good" },
      }),
    );
    expect(task).toMatchObject({ task: "embed", poolsPrompt: false });
    expect(unknown).toEqual([{ file: "config_sentence_transformers.json", keys: ["mood"] }]);
  });

  it("has the accepted keys", async () => {
    const files = {
      "modules.json": [
        { path: "", type: "sentence_transformers.models.Transformer" },
        { path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
      ],
      "1_Pooling/config.json": { pooling_mode: "mean", mood: 1 },
    };
    const folder = await ofClass("BertModel", files);
    await expect(describeModel(folder)).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      hint: expect.stringContaining("--accept-key 1_Pooling.mood"),
    });
    const acceptKeys = ["1_Pooling.mood", "1_Pooling.mood"];
    expect(await describeModel(folder, { acceptKeys })).toMatchObject({ acceptedKeys: ["1_Pooling.mood"] });
    const plain = describeModel(await ofClass("BertModel"), { acceptKeys });
    await expect(plain).rejects.toMatchObject({ code: "accepted_key_invalid" });
  });

  it.each<[string, TaskChoice["task"]]>([
    ["BertModel", "fill-mask"],
    ["BertForSequenceClassification", "embed"],
    ["BertForTokenClassification", "answer"],
  ])("of the class %s cannot be %s", async (architecture, task) => {
    await expect(describeModel(await ofClass(architecture), { task })).rejects.toMatchObject({
      code: "task_unsuitable",
      hint: expect.stringContaining("Its tasks: "),
    });
  });

  it("has a graph for every head", async () => {
    for (const stored of tokenHeadCases) {
      const folder = join(await temporaryFolder(), "model");
      await writeClassifier(folder, stored);
      const task = stored.head === "masked-lm" ? ("fill-mask" as const) : undefined;
      await writeFile(join(folder, "tokenizer.json"), withMask);
      const { readGraph } = await describeModel(folder, { task });
      expect((await readGraph()).graph.outputs.map(({ name }) => name)).toEqual(["logits"]);
    }
  });
});

describe("a head that config.json does not name", () => {
  it("is left out by name", async () => {
    const folder = await ofClass("BertModel");
    const { task, readGraph } = await describeModel(folder);
    expect(task).toMatchObject({ task: "embed" });
    expect((await readGraph()).unused).toEqual(["classifier.bias", "classifier.weight"]);
  });

  it.each<[TaskChoice["task"], object]>([
    ["classify", { task: "classify", labels: ["no", "maybe", "yes"] }],
    ["tag", { task: "tag", labels: ["no", "maybe", "yes"] }],
  ])("is used for the task %s if it is chosen", async (task, expected) => {
    const found = await describeModel(await ofClass("BertModel"), { task });
    expect(found.task).toMatchObject(expected);
    expect((await found.readGraph()).unused).toEqual([]);
  });

  it("is named if it has another task than the chosen one", async () => {
    await expect(describeModel(await ofClass("BertModel"), { task: "answer" })).rejects.toMatchObject({
      code: "task_unsuitable",
      hint: "Its tasks: embed, classify, tag. Tensors that do not belong to the encoder: classifier.bias, classifier.weight.",
    });
  });
});

describe("what a classifier reads", () => {
  const architectures = ["BertForSequenceClassification"];
  const inference = { 0: "CONTRADICTION", 1: "entailment", 2: "neutral" };

  it.each([
    ["a cross-encoder of sentence-transformers", { sentence_transformers: { version: "5.0.0" } }, "pair", 0],
    ["one of an older version", { sbert_ce_default_activation_function: "Identity" }, "pair", 0],
    ["a model with one label", { id2label: { 0: "LABEL_0" }, problem_type: null }, "pair", 1],
    ["a model with the labels of inference", { id2label: inference }, "pair", 1],
    [
      "a model with two labels of inference",
      { id2label: { 0: "entailment", 1: "not_entailment" }, problem_type: null },
      "pair",
      1,
    ],
    ["a model with two other labels", { id2label: { 0: "not_entailed", 1: "neutral" } }, "text", 0],
    ["another model", {}, "text", 0],
  ])("%s", async (_, keys, input, assumptions) => {
    const { task, assumed } = await describeModel(await modelWith({ architectures, ...keys }));
    expect(task).toMatchObject({ task: "classify", input });
    expect(assumed).toHaveLength(assumptions);
  });
});

describe("the old layout of sentence-transformers", () => {
  const module = (kind: string, path: string) => ({ path, type: `sentence_transformers.models.${kind}` });
  const ofRoot = {
    "config.json": { __version__: "0.2.5" },
    "modules.json": [module("Transformer", "0_Transformer"), module("Pooling", "1_Pooling")],
    "1_Pooling/config.json": { pooling_mode_cls_token: true },
    "config_sentence_transformers.json": { prompts: { query: "query: " } },
  };

  /** Writes the folder as versions before 2.0 did: the Transformer module has a folder of its own. */
  async function oldLayout(files: Readonly<Record<string, unknown>>): Promise<string> {
    const root = await folderWith(files);
    await writeClassifier(join(root, "0_Transformer"), caseOf("bert"), { keys: { architectures: ["BertModel"] } });
    await writeFiles(root, { "0_Transformer/sentence_bert_config.json": { max_seq_length: 7 } });
    return root;
  }

  it("has config.json, lengths, tokenizer and weights in the Transformer's folder", async () => {
    const root = await oldLayout(ofRoot);
    const found = await describeModel(root);
    expect(found).toMatchObject({
      ...{ folder: join(root, "0_Transformer"), maxTokens: 7, assumed: [] },
      task: { task: "embed", pooling: "cls", normalize: false, prompts: { query: "query: " } },
    });
    expect((await found.readGraph()).graph.outputs).toHaveLength(1);
  });

  it("may have the projection of token vectors in a folder beside it", async () => {
    const root = await oldLayout({
      "modules.json": [module("Transformer", "0_Transformer"), module("Dense", "1_Dense")],
      "1_Dense/config.json": {
        ...{ in_features: 8, out_features: 4, bias: false },
        activation_function: "torch.nn.modules.linear.Identity",
      },
      "1_Dense/model.safetensors": safetensorsFile({
        "linear.weight": float32Tensor([4, 8], new Float32Array(32).fill(1)),
      }),
    });
    const { task, readGraph } = await describeModel(root);
    expect(task).toEqual({ task: "token-vectors", dimensions: 4 });
    expect((await readGraph()).graph.outputs.map(({ value }) => value.shape?.at(-1))).toEqual([4]);
  });
});
