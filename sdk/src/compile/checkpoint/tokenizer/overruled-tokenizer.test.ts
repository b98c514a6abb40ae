import { expect, it } from "vitest";
import { overruledTokenizer } from "./overruled-tokenizer.ts";

const file = { post_processor: { type: "ByteLevel", add_prefix_space: true, trim_offsets: false } };
const made = (settings: object) => overruledTokenizer(file, settings, { model_type: "roberta" });

it("RoBERTa of transformers 4 has its own settings of the places of tokens", () => {
  const { json, changes } = made({});
  expect(JSON.stringify(json)).toContain('"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true');
  expect(changes).toEqual([expect.stringContaining("overrule the post_processor of tokenizer.json")]);
  expect(made({ add_prefix_space: true, trim_offsets: false }).changes).toEqual([]);
  expect(made({ tokenizer_class: "PreTrainedTokenizerFast" }).changes).toEqual([]);
});
