import { describe, expect, it } from "vitest";
import { caseOf } from "#test/fixtures/classifier-case.ts";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { readEncoderConfig } from "./read-encoder-config.ts";

describe("readEncoderConfig", () => {
  const { model_type, ...withoutFamily } = caseOf("bert").config;

  it("reads the configuration of a family", async () => {
    const folder = await folderWith({ "config.json": { model_type, ...withoutFamily } });
    expect(await readEncoderConfig(folder)).toMatchObject({ modelType: "bert" });
  });

  it.each([
    ["BertModel", '"model_type": "bert" to it.'],
    ["XLMRobertaForMaskedLM", '"model_type": "xlm-roberta" to it.'],
    ["DebertaV2Model", '"model_type": "deberta-v2" to it.'],
    ["NomicBertModel", '"model_type": "nomic_bert" to it.'],
    ["ModernBertForSequenceClassification", '"model_type": "modernbert" to it.'],
    ["OtherModel", '"model_type": "bert" to it, if the model is a BERT.'],
  ])("says which line a config.json of the class %s lacks", async (name, line) => {
    const folder = await folderWith({ "config.json": { ...withoutFamily, architectures: [name] } });
    await expect(readEncoderConfig(folder)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: `${folder}/config.json has no model_type.`,
      hint: expect.stringContaining(`Add the line ${line}`),
    });
  });

  it("names the folder below that has the model", async () => {
    const files = { "config.json": { __version__: "0.2.5" }, "0_Transformer/config.json": { model_type } };
    const folder = await folderWith(files);
    await expect(readEncoderConfig(folder)).rejects.toMatchObject({
      message: `${folder}/config.json has no model_type, but ${folder}/0_Transformer/config.json has one.`,
      hint: `Give the path of this folder: ${folder}/0_Transformer.`,
    });
  });
});
