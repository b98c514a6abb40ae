import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { readModules } from "./sentence-transformers.ts";

const module = (kind: string, path: string) => ({ path, type: `sentence_transformers.models.${kind}` });
const [transformer, pooling, normalize] = [
  module("Transformer", ""),
  module("Pooling", "1_Pooling"),
  module("Normalize", "2_Normalize"),
];

const headOf = async (files: Readonly<Record<string, unknown>>) => readModules(await folderWith(files));

const poolingBy = (...modes: string[]) => ({
  "1_Pooling/config.json": {
    word_embedding_dimension: 32,
    pooling_mode_mean_tokens: false,
    pooling_mode_cls_token: false,
    pooling_mode_max_tokens: false,
    ...Object.fromEntries(modes.map((mode) => [mode, true])),
  },
});

describe("readModules", () => {
  it("uses mean pooling and normalization for a plain encoder", async () => {
    expect(await headOf({})).toEqual({
      ...{ task: "embed", pooling: "mean", poolsPrompt: true, normalize: true, isAssumed: true },
      ...{ maxTokens: undefined, projections: [], similarity: undefined, isPyLate: false },
    });
  });

  it.each(["../../../../etc", "/etc", "a/../..", "C:\\x"])("refuses a module in %s", async (path) => {
    const files = { "modules.json": [transformer, module("Pooling", path)] };
    await expect(headOf(files)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining("the path leads out of the model folder"),
    });
  });

  it.each([
    ["mean", "pooling_mode_mean_tokens"],
    ["cls", "pooling_mode_cls_token"],
    ["max", "pooling_mode_max_tokens"],
    ["last", "pooling_mode_lasttoken"],
  ])("reads pooling by %s", async (expected, mode) => {
    const files = { "modules.json": [transformer, pooling, normalize], ...poolingBy(mode) };
    expect((await headOf(files)).pooling).toBe(expected);
  });

  it.each([
    ["mean", "mean"],
    ["cls", "cls"],
    ["max", "max"],
    ["lasttoken", "last"],
    [["mean"], "mean"],
  ])("reads the pooling_mode %j of version 6", async (mode, expected) => {
    const files = { "1_Pooling/config.json": { embedding_dimension: 32, pooling_mode: mode, include_prompt: true } };
    expect((await headOf({ "modules.json": [transformer, pooling], ...files })).pooling).toBe(expected);
  });

  it.each(["weightedmean", "toString", ["mean", "max"]])("refuses the pooling_mode %j", async (mode) => {
    const files = { "1_Pooling/config.json": { embedding_dimension: 32, pooling_mode: mode } };
    await expect(headOf({ "modules.json": [transformer, pooling], ...files })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(`the pooling ${[mode].flat().join(" + ")} is not supported`),
    });
  });

  it.each(["./", ".", "./1_Pooling/../"])("takes the path %j for the model folder", async (path) => {
    const files = { "modules.json": [module("Transformer", path), pooling], ...poolingBy("pooling_mode_cls_token") };
    expect((await headOf(files)).pooling).toBe("cls");
  });

  it("leaves Dropout out, which changes nothing after training", async () => {
    const files = { "modules.json": [transformer, pooling, module("Dropout", "2"), module("Normalize", "3")] };
    expect(await headOf({ ...files, ...poolingBy("pooling_mode_cls_token") })).toMatchObject({
      ...{ pooling: "cls", normalize: true },
    });
  });

  it("takes the last of several modules with one name, in the place of the first", async () => {
    const [first, named] = [
      { ...transformer, name: "0" },
      { ...pooling, name: "1" },
    ];
    const others = { ...module("Pooling", "9_Pooling"), name: "1" };
    const files = { ...poolingBy("pooling_mode_cls_token"), "9_Pooling/config.json": { pooling_mode: "max" } };
    const read = async (...modules: object[]) => headOf({ "modules.json": modules, ...files });
    expect(await read(first, named, { ...normalize, name: "2" }, others)).toMatchObject({
      ...{ pooling: "max", normalize: true },
    });
    expect(await read(first, named, first)).toMatchObject({ pooling: "cls" });
  });

  it("normalizes only if modules.json says so", async () => {
    const files = poolingBy("pooling_mode_mean_tokens");
    expect((await headOf({ "modules.json": [transformer, pooling, normalize], ...files })).normalize).toBe(true);
    expect((await headOf({ "modules.json": [transformer, pooling], ...files })).normalize).toBe(false);
  });

  it("reads the maximum length; null or no key means no maximum", async () => {
    const length = async (config: unknown) => (await headOf({ "sentence_bert_config.json": config })).maxTokens;
    expect(await length({ max_seq_length: 128, do_lower_case: false })).toBe(128);
    expect(await length({ max_seq_length: null })).toBeUndefined();
    expect(await length({})).toBeUndefined();
  });

  it("falls back to the tokenizer's maximum length, as version 6 does", async () => {
    const length = async (sentence: unknown) =>
      (await headOf({ "sentence_bert_config.json": sentence, "tokenizer_config.json": { model_max_length: 200 } }))
        .maxTokens;
    expect(await length({ max_seq_length: 128 })).toBe(128);
    expect(await length({ transformer_task: "feature-extraction" })).toBe(200);
    expect((await headOf({ "tokenizer_config.json": `{"model_max_length": 1${"0".repeat(30)}}` })).maxTokens).toBe(
      1e30,
    );
  });

  it.each([
    ["mean of square-root lengths", ["pooling_mode_mean_sqrt_len_tokens"]],
    ["a weighted mean", ["pooling_mode_weightedmean_tokens"]],
    ["two modes together", ["pooling_mode_mean_tokens", "pooling_mode_cls_token"]],
    ["none", []],
  ])("refuses pooling by %s, which would change the vectors", async (_, modes) => {
    await expect(headOf({ "modules.json": [transformer, pooling], ...poolingBy(...modes) })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(`the pooling ${modes.join(" + ") || "(none)"} is not supported`),
      hint: expect.stringContaining("mean, cls, max or lasttoken"),
    });
  });

  it.each(["WordWeights", "CNN", "StaticEmbedding", "Router", "LayerNorm", "MultiVectorMask"])(
    "refuses a module %s by name, which would change the vectors",
    async (kind) => {
      const files = {
        "modules.json": [transformer, pooling, module(kind, "2")],
        ...poolingBy("pooling_mode_cls_token"),
      };
      await expect(headOf(files)).rejects.toMatchObject({
        code: "checkpoint_unsupported",
        message: expect.stringContaining(`the module sentence_transformers.models.${kind}`),
      });
    },
  );

  it.each(["custom_st.Transformer", "modeling.Transformer"])(
    "refuses the module %s of another package",
    async (type) => {
      await expect(headOf({ "modules.json": [{ path: "", type }, pooling] })).rejects.toMatchObject({
        code: "checkpoint_unsupported",
        message: expect.stringContaining(`the module ${type}`),
      });
    },
  );

  it.each([
    ["Transformer → Pooling → Dense", [transformer, pooling, module("Dense", "2_Dense")]],
    ["Pooling → Transformer", [pooling, transformer]],
    ["Transformer → Normalize → Pooling", [transformer, normalize, pooling]],
    ["Transformer → Pooling → Pooling", [transformer, pooling, pooling]],
    ["Transformer → SpladePooling → Normalize", [transformer, module("SpladePooling", "1"), normalize]],
    ["(none)", []],
  ])("refuses the sequence %s", async (sequence, modules) => {
    await expect(headOf({ "modules.json": modules })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(`the sequence of modules ${sequence} is not supported`),
    });
  });

  it.each([
    ["sentence_transformers.models.Transformer", "sentence_transformers.models.Pooling"],
    [
      "sentence_transformers.base.modules.transformer.Transformer",
      "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    ],
  ])("knows the module %s", async (first, second) => {
    const modules = [
      { path: "./", type: first },
      { path: "./1_Pooling/", type: second },
    ];
    expect(await headOf({ "modules.json": modules, ...poolingBy("pooling_mode_cls_token") })).toMatchObject({
      task: "embed",
      pooling: "cls",
    });
  });

  it("pools by the mean if a Pooling module says nothing", async () => {
    const files = { "1_Pooling/config.json": { word_embedding_dimension: 32 } };
    expect((await headOf({ "modules.json": [transformer, pooling], ...files })).pooling).toBe("mean");
  });

  it("reads whether the prompt is pooled", async () => {
    const read = async (config: object) =>
      (await headOf({ "modules.json": [transformer, pooling], "1_Pooling/config.json": config })).poolsPrompt;
    expect(await read({ pooling_mode: "mean" })).toBe(true);
    expect(await read({ pooling_mode: "mean", include_prompt: false })).toBe(false);
  });

  it.each([
    ["config_sentence_transformers.json", { model_type: "CrossEncoder" }, "CrossEncoder"],
    ["config_sentence_transformers.json", { model_type: "Reranker" }, "Reranker"],
  ])("refuses a %s with %j", async (file, value, named) => {
    const files = { "modules.json": [transformer, pooling, normalize], ...poolingBy("pooling_mode_cls_token") };
    await expect(headOf({ ...files, [file]: value })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(named),
    });
  });

  it("accepts keys that do not change results", async () => {
    const files = {
      "modules.json": [{ ...transformer, idx: 0, name: "0", kwargs: ["task"] }, pooling],
      "1_Pooling/config.json": { embedding_dimension: 32, pooling_mode: "cls", include_prompt: true },
      "sentence_bert_config.json": {
        transformer_task: "feature-extraction",
        modality_config: { text: { method: "forward", method_output_name: "last_hidden_state" } },
        module_output_name: "token_embeddings",
        model_args: { dtype: "float16" },
      },
      "config_sentence_transformers.json": { model_type: "SentenceTransformer", similarity_fn_name: "dot", mood: 1 },
    };
    expect(await headOf(files)).toMatchObject({ pooling: "cls", similarity: "dot" });
  });

  it("reads the other names of sentence_bert_config.json, in the library's order", async () => {
    const files = {
      "sentence_roberta_config.json": { max_seq_length: 16 },
      "sentence_xlnet_config.json": { max_seq_length: 32 },
    };
    expect((await headOf(files)).maxTokens).toBe(16);
    expect((await headOf({ ...files, "sentence_bert_config.json": { max_seq_length: 8 } })).maxTokens).toBe(8);
    expect((await headOf({ ...files, "sentence_bert_config.json": {} })).maxTokens).toBe(16);
  });

  it("reads SPLADE's pooling", async () => {
    const modules = [module("MLMTransformer", ""), module("SpladePooling", "1_SpladePooling")];
    const read = (config: object) => headOf({ "modules.json": modules, "1_SpladePooling/config.json": config });
    expect(await read({ pooling_strategy: "max", activation_function: "relu" })).toMatchObject({ task: "sparse" });
  });

  it("reads Dense modules without Pooling as the projections of token vectors", async () => {
    const dense = (path: string) => ({ path, type: "pylate.models.Dense.Dense" });
    expect(await headOf({ "modules.json": [transformer, dense("1_Dense"), dense("2_Dense")] })).toMatchObject({
      ...{ task: "token-vectors", normalize: true },
      projections: [{ path: "1_Dense" }, { path: "2_Dense" }],
    });
  });

  it("says that a Transformer does not compute what the next module reads", async () => {
    const splade = { path: "1", type: "sentence_transformers.sparse_encoder.models.SpladePooling" };
    await expect(headOf({ "modules.json": [transformer, splade] })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining("transformer_task feature-extraction before SpladePooling"),
    });
    const task = { "sentence_bert_config.json": { transformer_task: "fill-mask" } };
    expect(await headOf({ "modules.json": [transformer, splade], ...task })).toMatchObject({ task: "sparse" });
    await expect(headOf({ "modules.json": [transformer] })).rejects.toMatchObject({ code: "checkpoint_unsupported" });
  });

  it("says that the pooling configuration is missing", async () => {
    await expect(headOf({ "modules.json": [transformer, pooling] })).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining("1_Pooling/config.json, but this file does not exist"),
    });
  });

  it.each([
    ["modules.json", "{"],
    ["modules.json", {}],
    ["modules.json", [{ path: "" }]],
    ["sentence_bert_config.json", { max_seq_length: 2 }],
    ["sentence_bert_config.json", { max_seq_length: "256" }],
    ["sentence_bert_config.json", null],
    ["tokenizer_config.json", { model_max_length: "512" }],
    ["1_Pooling/config.json", { pooling_mode: 1 }],
  ])("refuses a %s with %j", async (file, value) => {
    await expect(
      headOf({ "modules.json": [transformer, pooling], ...poolingBy("pooling_mode_cls_token"), [file]: value }),
    ).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining(file),
    });
  });

  it("accepts any modules.json or refuses it with an error code", async () => {
    const folder = await folderWith(poolingBy("pooling_mode_max_tokens"));
    const entry = fc.oneof(
      fc.constantFrom(transformer, pooling, normalize),
      fc.record({ path: fc.oneof(fc.string(), fc.constantFrom("..", "/", "\0", "1_Pooling")), type: fc.string() }),
      fc.record({ path: fc.string({ unit: "binary" }), type: fc.constant("x.Pooling") }),
      fc.jsonValue(),
    );
    const text = fc.oneof(
      fc.array(entry, { maxLength: 4 }).map((list) => JSON.stringify(list)),
      fc.json(),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        await writeFile(join(folder, "modules.json"), text);
        expect(["accepted", "checkpoint_invalid", "checkpoint_unsupported"]).toContain(
          await refusalOf(readModules(folder)),
        );
      }),
      seeded(runs(40, 150)),
    );
  });
});
