import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { expectHead, headOf } from "./task-head.ts";

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
  [{ architectures: ["ModernBertForMaskedLM"] }, "none"],
  [{ architectures: ["BertForPreTraining"] }, "none"],
  [{ architectures: ["BertForSequenceClassification"] }, "sequence-classification"],
  [{ architectures: ["XLMRobertaForSequenceClassification"] }, "sequence-classification"],
  [{ architectures: ["BertForMaskedLM", "BertForSequenceClassification"] }, "sequence-classification"],
])("a folder whose config.json says %j has the head %s", async (config, head) => {
  const folder = await folderWith(config);
  expect(await headOf(folder)).toBe(head);
  await expectHead(folder, head as "none");
});

it.each([
  ["BertForTokenClassification"],
  ["BertForQuestionAnswering"],
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

it("refuses an encoder where a classifier is expected, and the reverse", async () => {
  const [encoder, classifier] = [
    await folderWith({ architectures: ["BertModel"] }),
    await folderWith({ architectures: ["BertForSequenceClassification"] }),
  ];
  await expect(expectHead(encoder, "sequence-classification")).rejects.toMatchObject({
    code: "checkpoint_unsupported",
    message: `${encoder}: a classifier is expected, but config.json names a model without a task head.`,
  });
  await expect(expectHead(classifier, "none")).rejects.toMatchObject({
    code: "checkpoint_unsupported",
    message: `${classifier}: an encoder is expected, but config.json names a classifier (...ForSequenceClassification).`,
  });
});

it("refuses invalid architectures with checkpoint_invalid, and a missing file with checkpoint_missing", async () => {
  for (const architectures of ["BertModel", [7], { 0: "BertModel" }]) {
    await expect(headOf(await folderWith({ architectures }))).rejects.toMatchObject({ code: "checkpoint_invalid" });
  }
  await expect(headOf(await temporaryFolder())).rejects.toMatchObject({ code: "checkpoint_missing" });
});
