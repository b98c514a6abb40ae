import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { headOf, Labels } from "./task-head.ts";

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

describe("labels", () => {
  it.each([
    [{}, ["LABEL_0", "LABEL_1"], undefined],
    [{ num_labels: 3, id2label: null }, ["LABEL_0", "LABEL_1", "LABEL_2"], undefined],
    [{ id2label: { 1: "yes", 0: "no" } }, ["no", "yes"], undefined],
    [{ id2label: { 0: 1, 1: 2.5 } }, ["1", "2.5"], undefined],
    [{ id2label: { "01": "yes", " 0": "no" } }, ["no", "yes"], undefined],
    [{ label2id: { no: 0, yes: 1 } }, ["LABEL_0", "LABEL_1"], undefined],
    [{ id2label: { 0: "a", 1: "b" }, num_labels: 3 }, ["a", "b"], undefined],
    [{ id2label: { 0: "a", 1: "b" }, num_labels: 3, transformers_version: "4.57.1" }, ["a", "b"], undefined],
    [
      { id2label: { 0: "a", 1: "b" }, num_labels: 3, transformers_version: "5.24.0" },
      ["LABEL_0", "LABEL_1", "LABEL_2"],
      undefined,
    ],
    [{ id2label: { 0: "a", 1: "b" }, num_labels: 2, transformers_version: "5.24.0" }, ["a", "b"], undefined],
    [{ id2label: { 0: "score" }, num_labels: 1, problem_type: "regression" }, ["score"], "regression"],
    [
      { id2label: { 0: "a", 1: "b" }, problem_type: "multi_label_classification" },
      ["a", "b"],
      "multi_label_classification",
    ],
  ])("are read from %j as transformers does", (keys, labels, problemType) => {
    expect(v.parse(Labels, keys)).toEqual({ labels, problemType });
  });

  it.each([
    ["a gap", { id2label: { 0: "a", 2: "c" } }, "id2label has 2 names, for the labels 0, 2, but none for the label 1"],
    ["another first index", { id2label: { 1: "a", 2: "b" } }, "but none for the label 0"],
    [
      "an index that is no number",
      { id2label: { 0: "a", x: "b" } },
      "id2label must have the indices of labels as keys",
    ],
    ["the same index twice", { id2label: { 0: "a", "00": "b", 2: "c" } }, "but none for the label 1"],
    ["no names", { id2label: {} }, "id2label must name at least one label"],
    ["a name that is none", { id2label: { 0: null } }, "a label must be a text or a number"],
    ["no labels", { num_labels: 0 }, ""],
    ["a single class", { num_labels: 1, problem_type: "single_label_classification" }, "needs at least two labels"],
    ["an unknown problem", { problem_type: "ranking" }, "problem_type must be one of regression, single_label_"],
    ["more labels than allowed", { num_labels: 2 ** 31 - 1 }, "100000"],
  ])("are refused with %s", (_, keys, message) => {
    expect(() => v.parse(Labels, keys)).toThrow(message);
  });

  it("are valid names or refused, for any keys", () => {
    const names = fc.dictionary(
      fc.constantFrom("0", "1", "2", "__proto__", "x"),
      fc.oneof(fc.string(), fc.jsonValue()),
    );
    const keys = fc.record(
      {
        id2label: fc.oneof(names, fc.jsonValue()),
        num_labels: fc.oneof(fc.nat(4), fc.jsonValue(), fc.constantFrom(1e9, 0.5, -1)),
        problem_type: fc.oneof(fc.constantFrom("regression", "single_label_classification"), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: keys }, fc.jsonValue()), (value) => {
        const { success, output } = v.safeParse(Labels, value);
        outcomes.add(success);
        if (success)
          expect(output.labels.length > 0 && output.labels.every((name) => typeof name === "string")).toBe(true);
      }),
      seeded(1000),
    );
    expect(outcomes.size).toBe(2);
  });
});
