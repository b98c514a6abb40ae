import { expect, it } from "vitest";
import { withListedTokens } from "./named-tokens.ts";

const listed = { cls_token: "<s>", additional_special_tokens: ["b"] };

it("overrules the tokens of tokenizer_config.json, and adds to its list", () => {
  const settings = { cls_token: "[CLS]", do_lower_case: true, additional_special_tokens: ["a"] };
  expect(withListedTokens(settings, listed)).toEqual({
    ...{ cls_token: "<s>", do_lower_case: true, additional_special_tokens: ["a", "b"] },
  });
  expect(withListedTokens({}, listed)).toEqual(listed);
});

it("is not read beside the list of added tokens, or if there is no such file", () => {
  const settings = { cls_token: "[CLS]", added_tokens_decoder: {} };
  expect(withListedTokens(settings, listed)).toBe(settings);
  expect(withListedTokens({ cls_token: "[CLS]" }, undefined)).toEqual({ cls_token: "[CLS]" });
});
