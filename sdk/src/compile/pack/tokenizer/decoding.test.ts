import { expect, it } from "vitest";
import { defaultTokenizerJson } from "#test/fixtures/packed-tokenizers.ts";
import { createPackedTokenizer } from "../../../runtime/tokenizer/packed/packed-tokenizer.ts";
import { decodingOf } from "./decoding.ts";
import { packTokenizer } from "./pack-tokenizer.ts";

const [UNKNOWN, MASK] = [100, 103];
const json = defaultTokenizerJson();

it("is there if tokenizer_config.json names another token than the model", () => {
  expect(decodingOf(json, { unk_token: "[MASK]" }, UNKNOWN)).toMatchObject({ namedUnknown: MASK });
  expect(decodingOf(json, { unk_token: { content: "[MASK]" } })).toMatchObject({ namedUnknown: MASK });
  for (const config of [{}, { unk_token: null }, { unk_token: "[UNK]" }, { unk_token: "no token" }]) {
    expect(decodingOf(json, config, UNKNOWN)).not.toHaveProperty("namedUnknown");
  }
});

it("is the tokenizer's unknown token. Words that the model does not know are then spelled as its own", () => {
  const bytes = packTokenizer(json, { unk_token: "[MASK]" }) as Uint8Array<ArrayBuffer>;
  const { unknownId, encodePlaced } = createPackedTokenizer(bytes, Number.POSITIVE_INFINITY);
  expect(unknownId).toBe(MASK);
  const { ids, spelled } = encodePlaced("to \u2603", 9);
  expect([ids[2], spelled?.[2]]).toEqual([UNKNOWN, "[UNK]".length]);
});
