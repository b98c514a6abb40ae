import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { assertNoAdapter } from "./adapter.ts";

/** Keys that PEFT writes for LoRA on a model that is no classifier. */
const lora = {
  base_model_name_or_path: "org/base",
  peft_type: "LORA",
  task_type: null,
  auto_mapping: { base_model_class: "BertModel", parent_library: "transformers.models.bert.modeling_bert" },
};
const classifier = { ...lora, task_type: "SEQ_CLS", auto_mapping: null };
const base = { model_type: "bert", architectures: ["BertForSequenceClassification"] };

const found = async (files: Readonly<Record<string, unknown>>, inner = "") => {
  const folder = await folderWith(files);
  const { code, message, hint } = await assertNoAdapter({ root: folder, folder: join(folder, inner) }).then(
    () => ({ code: undefined, message: "", hint: "" }),
    (error) => error,
  );
  return { code, message, hint: hint.replaceAll(folder, "<folder>") as string };
};

describe("a folder with an adapter", () => {
  it("is refused besides its model, with the command that merges both", async () => {
    const { code, message, hint } = await found({ "adapter_config.json": classifier, "config.json": base });
    expect(code).toBe("checkpoint_unsupported");
    expect(message).toContain("adapter_config.json) besides its model");
    expect(hint.split("\n    ")).toEqual([
      "Merge the adapter into its model, and give the folder that this command writes, <folder>-merged:",
      "python3 -c 'import shutil; from peft import PeftModel; " +
        "from transformers import AutoTokenizer, BertForSequenceClassification as M; " +
        'a, b = "<folder>", "<folder>-merged"; ' +
        'shutil.copytree(a, b, ignore=shutil.ignore_patterns("adapter_*")); m = M.from_pretrained(b); ' +
        "PeftModel.from_pretrained(m, a).merge_and_unload().save_pretrained(b)'",
    ]);
  });

  it("is merged into a copy of the whole folder, if it is in the Transformer's own", async () => {
    const files = {
      "modules.json": [],
      "0_Transformer/adapter_config.json": classifier,
      "0_Transformer/config.json": base,
    };
    const { hint } = await found(files, "0_Transformer");
    expect(hint).toContain("give the folder that this command writes, <folder>-merged:");
    expect(hint).toContain('a, b = "<folder>", "<folder>-merged"; ');
    expect(hint).toContain(
      'm = M.from_pretrained(b + "/0_Transformer"); ' +
        'PeftModel.from_pretrained(m, a + "/0_Transformer").merge_and_unload().save_pretrained(b + "/0_Transformer")',
    );
  });

  it("is refused alone, with its base model in the command", async () => {
    const { code, message, hint } = await found({ "adapter_config.json": lora });
    expect(code).toBe("checkpoint_unsupported");
    expect(message).toContain("an adapter (adapter_config.json), but no model");
    expect(hint).toContain("BertModel as M");
    expect(hint).toContain('m = M.from_pretrained("org/base"); ');
    expect(hint).toContain('; AutoTokenizer.from_pretrained("org/base").save_pretrained(b)');
  });

  it("keeps the number of labels of a classifier, and a tokenizer of its own", async () => {
    const weights = { "base_model.model.classifier.weight": float32Tensor([3, 2], new Float32Array(6)) };
    const { hint } = await found({
      "adapter_config.json": classifier,
      "adapter_model.safetensors": safetensorsFile(weights),
      "tokenizer.json": {},
    });
    expect(hint).toContain("AutoModelForSequenceClassification as M");
    expect(hint).toContain('M.from_pretrained("org/base", num_labels=3)');
    expect(hint).not.toContain("AutoTokenizer.from_pretrained");
  });

  it.each([
    [{}, "AutoModel as M", '"<base model>"'],
    [{ auto_mapping: { base_model_class: "import os; os" } }, "AutoModel as M", '"<base model>"'],
  ])("has a command for the keys %j", async (config, model, name) => {
    const { hint } = await found({ "adapter_config.json": config });
    expect(hint).toContain(model);
    expect(hint).toContain(name);
  });

  it("cannot be merged if the adapter is a learned prompt", async () => {
    const { hint } = await found({
      "adapter_config.json": { ...lora, peft_type: "PREFIX_TUNING" },
      "config.json": base,
    });
    expect(hint).toContain("Adapters of the kind PREFIX_TUNING cannot be merged");
  });
});

it("leaves other folders alone", async () => {
  expect((await found({ "config.json": base })).code).toBeUndefined();
});
