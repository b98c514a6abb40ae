import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Contents, folderWith } from "#test/fixtures/folder-with.ts";
import { assertNoDanglingLink, missingFile } from "./missing-file.ts";

/** Returns the error for a missing file. The folder is called F. */
async function found(file: string, files: Contents) {
  const folder = await folderWith(files);
  const { code, message, hint = "" } = missingFile(folder, file);
  return { code, message: message.replaceAll(folder, "F"), hint: hint.replaceAll(folder, "F") };
}

const bert = { model_type: "bert" };

describe("the error for a folder without config.json", () => {
  it("has the command for bert_config.json, and the line to add", async () => {
    expect(await found("config.json", { "bert_config.json": {} })).toEqual({
      code: "checkpoint_missing",
      message: "F/config.json does not exist, but bert_config.json does.",
      hint:
        'Copy it to config.json, and add the line "model_type": "bert":\n    ' +
        `python3 -c 'import json; c = json.load(open("F/bert_config.json")); c["model_type"] = "bert"; json.dump(c, open("F/config.json", "w"))'`,
    });
  });

  it("names the folder of the Transformer module, and the pooling that is lost with modules.json", async () => {
    const files = { "0_Transformer/config.json": bert, "1_Pooling/config.json": {} };
    expect(await found("config.json", files)).toMatchObject({
      message: "F/config.json does not exist, but F/0_Transformer/config.json does.",
      hint: "Give the path of this folder: F/0_Transformer. Then set --pooling to the pooling in 1_Pooling/config.json.",
    });
  });

  it("names the checkpoints of a training", async () => {
    const files = { "checkpoint-20/config.json": bert, "checkpoint-10/config.json": bert };
    expect((await found("config.json", files)).hint).toBe(
      "Give the path of one of these folders: F/checkpoint-10, F/checkpoint-20.",
    );
  });

  it("lists what is there otherwise", async () => {
    const { message, hint } = await found("config.json", { "README.md": "", "a/b": "" });
    expect(message).toBe("F/config.json does not exist.");
    expect(hint).toMatch(/^Give a folder with config\.json.* F has: README\.md, a\/$/);
  });

  it("says that there is no such folder", () => {
    expect(missingFile("/no/such/folder", "config.json")).toMatchObject({
      code: "checkpoint_missing",
      message: "There is no folder /no/such/folder.",
      hint: expect.stringContaining("`npx bert-edge models`"),
    });
  });
});

describe("the error for a folder without tokenizer.json", () => {
  const convert = `\n    python3 -c 'from transformers import AutoTokenizer; AutoTokenizer.from_pretrained("F").save_pretrained("F")'`;

  it.each([
    ["vocab.txt", ""],
    ["vocab.json", ""],
    ["sentencepiece.bpe.model", " (it needs `pip install sentencepiece protobuf`)"],
    ["spiece.model", " (it needs `pip install sentencepiece protobuf`)"],
  ])("has the command that makes it from %s", async (file, needs) => {
    expect(await found("tokenizer.json", { [file]: "x", "config.json": bert })).toEqual({
      code: "checkpoint_missing",
      message: `F/tokenizer.json does not exist, but ${file} does.`,
      hint: `Make tokenizer.json from it with transformers${needs}:${convert}`,
    });
  });

  it.each([
    [{ tokenizer_class: "BertJapaneseTokenizer" }, "BertJapaneseTokenizer splits texts with MeCab"],
    [{ tokenizer_class: "BertJapaneseTokenizer", word_tokenizer_type: "sudachi" }, "splits texts with Sudachi"],
    [{ tokenizer_class: "PhobertTokenizer" }, "PhobertTokenizer splits texts with Python code"],
  ])("refuses %j by name, although there is a vocab.txt", async (config, message) => {
    const error = await found("tokenizer.json", { "vocab.txt": "x", "tokenizer_config.json": config });
    expect(error).toMatchObject({ code: "checkpoint_unsupported", message: expect.stringContaining(message) });
  });

  it("lists what is there otherwise", async () => {
    const files = { "tokenizer_config.json": "{", "config.json": bert };
    expect((await found("tokenizer.json", files)).hint).toContain("F has: config.json, tokenizer_config.json");
  });
});

describe("the error for a folder without model.safetensors", () => {
  it.each<[Contents, string]>([
    [{ "pytorch_model.safetensors": "" }, "but pytorch_model.safetensors does"],
    [{ "tf_model.h5": "", "flax_model.msgpack": "" }, "but flax_model.msgpack (Flax), tf_model.h5 (TensorFlow) does"],
    [{ "bert_model.ckpt.data-00000-of-00001": "" }, "but bert_model.ckpt.data-00000-of-00001 (TensorFlow) does"],
    [{ "model.gguf": "" }, "but model.gguf (llama.cpp) does"],
    [
      { "checkpoint-5/model.safetensors": "", "checkpoint-5/config.json": bert },
      "but F/checkpoint-5/model.safetensors",
    ],
    [{ "model-00001-of-00002.safetensors": "" }, "model.safetensors does not exist."],
  ])("with %j says what is there", async (files, message) => {
    expect((await found("model.safetensors", files)).message).toContain(message);
  });
});

async function linked(file: string, target: string) {
  const folder = await folderWith({ "blobs/a": "{}", "snapshot/config.json": "{}" });
  await mkdir(join(folder, "snapshot/1_Pooling"));
  await symlink(target, join(folder, "snapshot", file));
  return () => assertNoDanglingLink(join(folder, "snapshot"));
}

describe("links of a model folder", () => {
  // Without its link, each of these files would count as one that the model does not have.
  it.each(["modules.json", "model.safetensors", "model.onnx", "artifact.metadata", "1_Pooling/config.json"])(
    "are refused without their target: %s",
    async (file) => {
      expect(await linked(file, "../blobs/none")).toThrow(
        expect.objectContaining({
          code: "checkpoint_missing",
          message: expect.stringMatching(`${file} is a link to ../blobs/none, which does not exist\\.$`),
        }),
      );
    },
  );

  it.each([
    ["modules.json", "../blobs/a"],
    ["README.md", "../blobs/none"],
  ])("are taken: %s → %s", async (file, target) => {
    expect(await linked(file, target)).not.toThrow();
  });

  it("are none in a folder that does not exist", () => {
    expect(() => assertNoDanglingLink("/no/such/folder")).not.toThrow();
  });
});
