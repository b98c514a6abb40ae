import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { assertKeys } from "./accepted-keys.ts";
import { folderKeys } from "./ledger.ts";

const module = (kind: string, path: string) => ({ path, type: `sentence_transformers.models.${kind}` });
const [transformer, pooling, normalize] = [
  module("Transformer", ""),
  module("Pooling", "1_Pooling"),
  module("Normalize", "2_Normalize"),
];

const check = async (files: Readonly<Record<string, unknown>>, accepted: readonly string[] = []) => {
  const root = await folderWith({ "modules.json": [transformer, pooling, normalize], ...files });
  return assertKeys(root, await folderKeys(root), accepted);
};

describe("assertKeys", () => {
  it.each([
    ["1_Pooling/config.json", { pooling_mode: "mean", temperature: 2 }, "temperature"],
    ["2_Normalize/config.json", { p: 1 }, '"p"'],
    ["sentence_bert_config.json", { max_seq_length: 32, stride: 1 }, "stride"],
    ["sentence_bert_config.json", { model_args: { layers: 2 } }, "model_args.layers"],
    ["sentence_bert_config.json", { processing_kwargs: { text: { max_length: 9 } } }, "processing_kwargs"],
    ["sentence_bert_config.json", { query_length: 9 }, "query_length"],
    ["2_Normalize/config.json", { module_input_name: "token_embeddings" }, "module_input_name"],
    ["config_sentence_transformers.json", { truncate_dim: 16 }, "truncate_dim"],
    ["config.json", { is_decoder: true }, "is_decoder"],
    ["tokenizer_config.json", { split_special_tokens: true }, "split_special_tokens"],
    ["artifact.metadata", { similarity: "l2" }, "similarity"],
    ["modules.json", [{ ...transformer, device: "cpu" }, pooling], "device"],
  ])("refuses a %s with %j", async (file, value, named) => {
    await expect(check({ [file]: value })).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringMatching(new RegExp(`${file}.*${named}`)),
    });
  });

  it("refuses a Dense module with another input", async () => {
    const files = { "modules.json": [transformer, module("Dense", "1")], "1/config.json": { module_input_name: "x" } };
    await expect(check(files)).rejects.toMatchObject({ code: "checkpoint_unsupported" });
  });

  it.each(["pooling_strategy", "activation_function"])("refuses another %s of SPLADE", async (key) => {
    const splade = module("SpladePooling", "1");
    const files = { "modules.json": [transformer, splade], "1/config.json": { [key]: "sum" } };
    await expect(check(files)).rejects.toMatchObject({ code: "checkpoint_unsupported" });
  });

  it("lists unknown keys of files that are no module's configuration", async () => {
    const mood = { mood: 1 };
    const files = { "config.json": mood, "1_Pooling/config.json": {}, "artifact.metadata": mood };
    expect(await check(files)).toEqual([
      { file: "config.json", keys: ["mood"] },
      { file: "artifact.metadata", keys: ["mood"] },
    ]);
  });

  it("names the options that accept all unknown keys, which then are accepted", async () => {
    const dense = [module("Dense", "1_Dense"), module("Dense", "2_Dense")];
    const files = {
      "modules.json": [{ ...transformer, device: "cpu" }, ...dense],
      "1_Dense/config.json": { mood: 1, "other mood": "it's" },
      "2_Dense/config.json": { mood: 1 },
      "sentence_bert_config.json": { model_args: { layers: 2 } },
    };
    const names = [
      "modules.json.device",
      "Transformer.model_args.layers",
      "1_Dense.mood",
      "1_Dense.other mood",
      "2_Dense.mood",
    ];
    const options = names.map((name) => `--accept-key ${name.includes(" ") ? `'${name}'` : name}`).join(" ");
    await expect(check(files)).rejects.toMatchObject({ hint: expect.stringContaining(`\`${options}\``) });
    expect(await check(files, names)).toEqual([]);
    // If two modules have the same key, only the named one is accepted.
    await expect(check(files, names.slice(0, -1))).rejects.toMatchObject({
      message: expect.stringContaining('2_Dense/config.json has the key "mood", which is not known'),
      hint: expect.stringContaining("`--accept-key 2_Dense.mood`"),
    });
    await expect(check(files, [...names.slice(0, 2), "2_Dense.mood"])).rejects.toMatchObject({
      message: expect.stringContaining('1_Dense/config.json has the keys "mood", "other mood", which are not known'),
    });
  });

  it.each([
    ["1_Pooling.colour", "have no such key", "--accept-key 1_Pooling.mood"],
    ["mood", "have no such key", "--accept-key 1_Pooling.mood"],
    ["1_Pooling.pooling_mode", "is known, and is obeyed", "--accept-key 1_Pooling.mood"],
    ["1_Pooling.embedding_dimension", "is known, and has no effect", "--accept-key 1_Pooling.mood"],
    ["Transformer.query_length", "query_length is 9, which is not supported", "Supported: null."],
    ["config_sentence_transformers.json.truncate_dim", "truncate_dim is 16", "Remove the key"],
    ["config.json.mood", "only named in the report", "--accept-key 1_Pooling.mood"],
  ])("refuses to accept %s", async (name, message, hint) => {
    const files = {
      "1_Pooling/config.json": { pooling_mode: "mean", embedding_dimension: 8, mood: 1 },
      "sentence_bert_config.json": { query_length: 9 },
      "config_sentence_transformers.json": { truncate_dim: 16 },
      "config.json": { mood: 1 },
    };
    await expect(check(files, ["1_Pooling.mood", name])).rejects.toMatchObject({
      code: "accepted_key_invalid",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  it("refuses a value although unknown keys of the same module are accepted", async () => {
    const files = { "2_Normalize/config.json": { module_input_name: "token_embeddings", mood: 1 } };
    await expect(check(files, ["2_Normalize.mood"])).rejects.toMatchObject({ code: "checkpoint_unsupported" });
  });

  it("says that the option is needless if all keys are known", async () => {
    await expect(check({}, ["1_Pooling.mood"])).rejects.toMatchObject({
      hint: expect.stringMatching(/^Leave the option out/),
    });
  });
});
