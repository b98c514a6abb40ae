import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ClassifierCase,
  type ClassifierEdit,
  caseOf,
  type Drawn,
  writeClassifier,
} from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { headGraph } from "./head-graph.ts";
import { headWeights } from "./headed-model.ts";

const bert = caseOf("bert");

async function folderOf(stored: ClassifierCase, edit: ClassifierEdit = {}): Promise<string> {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, stored, edit);
  return folder;
}

/** Names of the head's tensors. */
const headTensors: Readonly<Record<string, readonly string[]>> = {
  bert: ["bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight", "classifier.bias"],
  roberta: [
    "classifier.dense.weight",
    "classifier.dense.bias",
    "classifier.out_proj.weight",
    "classifier.out_proj.bias",
  ],
  distilbert: ["pre_classifier.weight", "pre_classifier.bias", "classifier.weight", "classifier.bias"],
  albert: ["albert.pooler.weight", "albert.pooler.bias", "classifier.weight", "classifier.bias"],
  "modernbert, mean": [
    ...["head.dense.weight", "head.dense.bias", "head.norm.weight", "head.norm.bias"],
    ...["classifier.weight", "classifier.bias"],
  ],
};
const eachHeadTensor = Object.entries(headTensors).flatMap(([name, tensors]) =>
  tensors.map((tensor) => [name, tensor] as const),
);

describe("readHeadedModel", () => {
  it("reads encoder, head and labels", async () => {
    const folder = await folderOf(bert);
    expect(await readHeadedModel(folder, "sequence-classification")).toMatchObject({
      folder,
      config: { modelType: "bert", hiddenSize: 8 },
      head: { pooling: "cls", transform: { activation: "tanh" }, output: { name: "classifier" } },
      outputs: 3,
      labels: ["no", "maybe", "yes"],
      problemType: "single_label_classification",
    });
  });

  it("refuses a head with the rows of another number of labels, and says what to write", async () => {
    const folder = await folderOf(bert);
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...bert.config, id2label: undefined }));
    const model = await readHeadedModel(folder, "sequence-classification");
    expect(() => headWeights(model)).toThrow(
      expect.objectContaining({
        code: "checkpoint_invalid",
        message: `${folder} should have the tensor classifier.weight of shape [2,8], but its shape is [3,8].`,
        hint: expect.stringContaining("the names of the 3 labels, with the keys 0 to 2"),
      }),
    );
  });

  it("refuses a head that the family does not have", async () => {
    const folder = await folderOf(caseOf("eurobert"));
    await expect(readHeadedModel(folder, "question-answering")).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: `${folder}: eurobert has no head for question-answering in transformers.`,
    });
  });

  it.each(["config.json", "model.safetensors"])("says that %s is missing", async (file) => {
    const folder = await folderOf(bert);
    await rm(join(folder, file));
    await expect(readHeadedModel(folder, "sequence-classification")).rejects.toMatchObject({
      code: "checkpoint_missing",
      message: `${join(folder, file)} does not exist.`,
    });
  });

  it.each([
    [
      "bert",
      { id2label: { 1: "a", 2: "b" } },
      "checkpoint_invalid",
      "id2label has 2 names, for the labels 1, 2, but none for the label 0",
    ],
    ["bert", { model_type: "t5" }, "checkpoint_unsupported", "only these families are supported so far"],
    ["modernbert", { classifier_pooling: "max" }, "checkpoint_unsupported", "classifier_pooling"],
    ["modernbert", { classifier_activation: "prelu" }, "checkpoint_unsupported", "the activation must be one of"],
    [
      "eurobert",
      { classifier_pooling: "max" },
      "checkpoint_unsupported",
      "the pooling of the classifier must be bos, mean or late",
    ],
    ["eurobert", { clf_pooling: "max" }, "checkpoint_unsupported", "must be bos, mean or late"],
    ["deberta-v2", { pooler_hidden_size: 16 }, "checkpoint_unsupported", "pooler_hidden_size that is not hidden_size"],
    ["deberta-v2", { embedding_size: 16 }, "checkpoint_unsupported", "embedding_size that is not hidden_size"],
    ["deberta-v2", { conv_kernel_size: 3 }, "checkpoint_unsupported", "convolutions (conv_kernel_size)"],
    ["deberta-v2", { pos_att_type: "p2p" }, "checkpoint_unsupported", "pos_att_type may only have c2p and p2c"],
    ["new", { logn_attention_scale: true }, "checkpoint_unsupported", "the length of the text"],
    ["new", { rope_scaling: { type: "linear" } }, "checkpoint_unsupported", "only the rotary scaling ntk"],
    ["jina, geglu", { feed_forward_type: "glu" }, "checkpoint_unsupported", "feed_forward_type must be"],
    ["eurobert", { head_dim: 16 }, "checkpoint_unsupported", "head_dim must be hidden_size"],
    ["eurobert", { num_key_value_heads: 3 }, "checkpoint_invalid", "multiple of num_key_value_heads"],
  ])("names the wrong key in the config.json of %s with %j", async (name, keys, code, message) => {
    const folder = await folderOf(caseOf(name), { keys });
    await expect(readHeadedModel(folder, "sequence-classification")).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("accepts any config.json or refuses it as invalid or unsupported", async () => {
    const folder = await folderOf(bert);
    const value = fc.oneof(fc.jsonValue(), fc.nat(8), fc.constantFrom(1e9, 2 ** 31, 2 ** 53, -1, 0.5));
    const keys = [...Object.keys(bert.config), "num_labels", "problem_type", "classifier_pooling"];
    const change = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 2 });
    const architecture = fc.constantFrom("BertForSequenceClassification", "BertModel");
    const changed = fc
      .tuple(architecture, change)
      .map(([name, others]) => JSON.stringify({ ...bert.config, architectures: [name], ...others }));
    const codes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: changed }, fc.json(), fc.string()), async (text) => {
        await writeFile(join(folder, "config.json"), text);
        codes.add(await refusalOf(readHeadedModel(folder, "sequence-classification").then(headGraph)));
      }),
      seeded(runs(80, 300)),
    );
    expect([...codes].sort()).toEqual(["accepted", "checkpoint_invalid", "checkpoint_unsupported"]);
  });
});

describe("headWeights", () => {
  const refused = async (stored: ClassifierCase, edit: ClassifierEdit, message: string) => {
    const classifier = await readHeadedModel(await folderOf(stored, edit), "sequence-classification");
    expect(() => headWeights(classifier)).toThrow(
      expect.objectContaining({ code: "checkpoint_invalid", message: expect.stringContaining(message) }),
    );
  };

  it.each(eachHeadTensor)("names a missing tensor of %s: %s", async (name, tensor) => {
    const removed = (drawn: Map<string, Drawn>) => expect(drawn.delete(tensor)).toBe(true);
    await refused(caseOf(name), { tensors: removed }, `has no tensor ${tensor} of shape [`);
  });

  it.each(eachHeadTensor)("names a tensor of the wrong shape in %s: %s", async (name, tensor) => {
    const longer = (drawn: Map<string, Drawn>) => {
      const [rows = 0, ...columns] = drawn.get(tensor)?.shape ?? [];
      const shape = [rows + 1, ...columns];
      drawn.set(tensor, { shape, values: new Float32Array(shape.reduce((product, n) => product * n, 1)) });
    };
    await refused(caseOf(name), { tensors: longer }, `should have the tensor ${tensor} of shape [`);
  });

  it("refuses fewer labels than rows of weights", async () => {
    const keys = { id2label: { 0: "no", 1: "yes" } };
    await refused(bert, { keys }, "should have the tensor classifier.weight of shape [2,8], but its shape is [3,8]");
  });

  it("refuses NaN", async () => {
    const broken = (drawn: Map<string, Drawn>) => drawn.get("classifier.weight")?.values.fill(Number.NaN, 5, 6);
    await refused(bert, { tensors: broken }, "classifier.weight holds NaN or infinite numbers");
  });
});
