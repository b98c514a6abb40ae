import { describe, expect, it } from "vitest";
import { inputRole, inputRoles, plainName } from "./input-role.ts";

describe("inputRole", () => {
  it.each<[string, readonly string[]]>([
    ["transformers", ["input_ids", "attention_mask", "token_type_ids"]],
    ["tf2onnx", ["input_ids:0", "attention_mask:0", "token_type_ids:0"]],
    [
      "a SavedModel",
      ["serving_default_input_ids:0", "serving_default_attention_mask:0", "serving_default_token_type_ids"],
    ],
    ["the first BERT", ["input_ids:0", "input_mask:0", "segment_ids:0"]],
    ["TensorFlow Hub", ["input_word_ids", "input_mask", "input_type_ids"]],
    ["Keras Hub", ["token_ids", "padding_mask", "segment_ids"]],
  ])("knows the names of %s", (_, names) => {
    expect(names.map(inputRole)).toEqual(inputRoles);
  });

  it.each(["position_ids", "input_ids_1", "input_ids:1", "mask", "toString", ""])(
    "does not guess what %j is",
    (name) => {
      expect(inputRole(name)).toBeUndefined();
    },
  );
});

describe("plainName", () => {
  it("leaves names without a suffix of TensorFlow as they are", () => {
    expect(["logits", "logits:0", "out:1", "serving_default_logits:0"].map(plainName)).toEqual([
      "logits",
      "logits",
      "out:1",
      "logits",
    ]);
  });
});
