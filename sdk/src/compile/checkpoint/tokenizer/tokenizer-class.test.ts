import { describe, expect, it } from "vitest";
import { overruledTokenizer } from "./overruled-tokenizer.ts";

const json = { normalizer: null, pre_tokenizer: null, post_processor: null, model: { type: "WordPiece", vocab: {} } };
const japanese = { tokenizer_class: "BertJapaneseTokenizer" };

describe("a tokenizer that is Python code, besides a tokenizer.json", () => {
  // transformers 4.57 and 5.24 load these classes from their vocabulary, and do not open tokenizer.json.
  it.each([
    [{ ...japanese, word_tokenizer_type: "mecab" }, {}, "BertJapaneseTokenizer splits texts with MeCab"],
    [{ ...japanese, word_tokenizer_type: "basic" }, {}, "BertJapaneseTokenizer splits texts with Python code"],
    [{ word_tokenizer_type: "mecab" }, japanese, "BertJapaneseTokenizer splits texts with MeCab"],
    [{ tokenizer_class: "PhobertTokenizer" }, {}, "PhobertTokenizer splits texts with Python code"],
  ])("is refused: %j, %j", (settings, config, message) => {
    expect(() => overruledTokenizer(json, settings, { model_type: "bert", ...config })).toThrow(
      expect.objectContaining({ code: "checkpoint_unsupported", message: expect.stringContaining(message) }),
    );
  });

  it.each([{ tokenizer_class: "PreTrainedTokenizerFast" }, { word_tokenizer_type: "mecab" }])(
    "is none with %j",
    (settings) => {
      expect(overruledTokenizer(json, settings, { model_type: "modernbert" }).json).toMatchObject(json);
    },
  );
});
