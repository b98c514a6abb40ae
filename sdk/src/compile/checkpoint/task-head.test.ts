import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { headOf } from "./task-head.ts";

async function folderWith(config: object): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  return folder;
}

it.each([
  [{}, "none"],
  [{ architectures: null }, "none"],
  [{ architectures: [] }, "none"],
  [{ architectures: ["BertModel"] }, "none"],
  [{ architectures: ["ModernBertForMaskedLM"] }, "masked-lm"],
  [{ architectures: ["BertForPreTraining"] }, "none"],
  [{ architectures: ["BertForSequenceClassification"] }, "sequence-classification"],
  [{ architectures: ["XLMRobertaForSequenceClassification"] }, "sequence-classification"],
  [{ architectures: ["XLMRobertaForTokenClassification"] }, "token-classification"],
  [{ architectures: ["DistilBertForQuestionAnswering"] }, "question-answering"],
  [{ architectures: ["HF_ColBERT"] }, "late-interaction"],
  [{ architectures: ["BertForMaskedLM", "BertForSequenceClassification"] }, "sequence-classification"],
])("a folder whose config.json says %j has the head %s", async (config, head) => {
  const folder = await folderWith(config);
  expect(await headOf(folder)).toBe(head);
});

it.each([
  ["DistilBertForMultipleChoice"],
  ["T5ForConditionalGeneration"],
  ["BertForConstructor"],
  ["BertForSequenceClassificationLike"],
])("names the unsupported head of %s, and lists the supported ones", async (name) => {
  const folder = await folderWith({ architectures: ["BertModel", name] });
  await expect(headOf(folder)).rejects.toMatchObject({
    code: "checkpoint_unsupported",
    message: `${folder}: the head of ${name} is not supported so far.`,
    hint: expect.stringContaining("...ForSequenceClassification"),
  });
});

it("refuses invalid architectures with checkpoint_invalid, and a missing file with checkpoint_missing", async () => {
  for (const architectures of ["BertModel", [7], { 0: "BertModel" }]) {
    await expect(headOf(await folderWith({ architectures }))).rejects.toMatchObject({ code: "checkpoint_invalid" });
  }
  await expect(headOf(await temporaryFolder())).rejects.toMatchObject({ code: "checkpoint_missing" });
});
