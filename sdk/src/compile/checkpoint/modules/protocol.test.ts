import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import type { EncoderConfig } from "../encoder-config.ts";
import { readProtocol } from "./protocol.ts";

/** Tokens after the 7 of the vocabulary get the next ids, whatever the file says. */
const tokenizer = {
  added_tokens: [
    { id: 100, content: "[UNK]" },
    { id: 103, content: "[MASK]" },
    { id: 200, content: "[Q] " },
    { id: 9, content: "[D] " },
  ],
  model: { vocab: { "[unused0]": 1, "[unused1]": 2, ".": 10, ",": 11, the: 12, "[UNK]": 100, "[MASK]": 103 } },
};
const { config } = tinyBert({ config: { max_position_embeddings: 64 } });

interface Given {
  readonly pylate?: object;
  readonly metadata?: object;
  readonly encoder?: Partial<EncoderConfig>;
  readonly json?: object;
  readonly settings?: object;
  /** Folder of the Transformer module. */
  readonly inner?: string;
  readonly by?: "PyLate";
  readonly sentence?: object;
}

const named = { mask_token: "[MASK]", unk_token: { content: "[UNK]" } };

async function protocolOf({
  pylate,
  metadata,
  encoder,
  json = tokenizer,
  settings = named,
  inner = "",
  ...given
}: Given) {
  const by = given.by ?? (metadata || !pylate ? "Stanford" : undefined);
  const root = join(await temporaryFolder(), "model");
  const folder = join(root, inner);
  await mkdir(folder, { recursive: true });
  const write = (name: string, content: object | undefined) =>
    content && writeFile(join(root, name), JSON.stringify(content));
  await write(join(inner, "tokenizer.json"), json);
  await write(join(inner, "tokenizer_config.json"), settings);
  await write("config_sentence_transformers.json", pylate);
  await write(join(inner, "sentence_bert_config.json"), given.sentence);
  await write("artifact.metadata", metadata);
  return readProtocol({ root, folder }, { ...config, ...encoder }, by);
}

const colbert = { model_type: "ColBERT", skiplist_words: [".", "!"], query_length: 16, document_length: 40 };

describe("the protocol of PyLate", () => {
  it("is read from config_sentence_transformers.json, with PyLate's defaults", async () => {
    expect(await protocolOf({ pylate: colbert })).toEqual({
      query: { length: 16, marker: 7, expansion: { token: 103, isAttended: false } },
      document: { length: 40, marker: 8, skipped: [10, 100] },
    });
    const { query, document } =
      (await protocolOf({ pylate: { do_query_expansion: null, query_prefix: "[Q] " } })) ?? {};
    expect([query?.length, document?.length]).toEqual([32, 64]);
    // Punctuation, of which the vocabulary has two marks; the others are the unknown token.
    expect(document?.skipped.toSorted((a, b) => a - b)).toEqual([10, 11, 100]);
  });

  it("is read with the tokenizer of the Transformer module's folder", async () => {
    expect(await protocolOf({ pylate: colbert, inner: "0_Transformer" })).toEqual(
      await protocolOf({ pylate: colbert }),
    );
  });

  it("has PyLate's defaults if a module is PyLate's and no file says more", async () => {
    expect(await protocolOf({ pylate: {} })).toBeUndefined();
    expect(await protocolOf({ pylate: {}, by: "PyLate" })).toMatchObject({
      query: { length: 32, marker: 7, expansion: { token: 103 } },
      document: { length: 64, marker: 8 },
    });
  });

  it("fills queries up with the token of padding if the files say that there is no mask token", async () => {
    const settings = { mask_token: null, pad_token: "the", unk_token: "[UNK]" };
    const token = async (more: object) =>
      (await protocolOf({ pylate: colbert, settings: { ...settings, ...more } }))?.query.expansion?.token;
    expect(await token({})).toBe(12);
    expect(await token({ eos_token: "," })).toBe(11);
  });

  it("lower-cases texts if sentence-transformers does", async () => {
    expect(await protocolOf({ pylate: colbert, sentence: { do_lower_case: true } })).toMatchObject({
      lowercases: true,
    });
  });

  it("may have no markers and no expansion", async () => {
    const pylate = { ...colbert, query_prefix: "", document_prefix: "", do_query_expansion: false, skiplist_words: [] };
    expect(await protocolOf({ pylate: { ...pylate, attend_to_expansion_tokens: true } })).toEqual({
      query: { length: 16 },
      document: { length: 40, skipped: [] },
    });
  });

  it("is undefined for folders without its keys", async () => {
    expect(await protocolOf({ pylate: { model_type: "SentenceTransformer", prompts: {} } })).toBeUndefined();
  });

  it.each<[string, Given, string, string]>([
    ["a marker without a token", { pylate: { ...colbert, query_prefix: "[X]" } }, "checkpoint_invalid", '"[X]"'],
    [
      "no mask token",
      { pylate: colbert, json: { model: { vocab: {} } }, settings: {} },
      "checkpoint_invalid",
      "mask token",
    ],
    [
      "more tokens than positions",
      { pylate: { ...colbert, query_length: 65 } },
      "checkpoint_unsupported",
      "64 positions",
    ],
    [
      "expansion tokens at the left",
      { pylate: colbert, settings: { ...named, padding_side: "left" } },
      "checkpoint_unsupported",
      "tokenizer_config.json: padding_side is left",
    ],
    [
      "padding at the left in tokenizer.json",
      { pylate: colbert, json: { ...tokenizer, padding: { direction: "Left" } } },
      "checkpoint_unsupported",
      "tokenizer.json: padding.direction is Left",
    ],
    [
      "windows that do not reach",
      { pylate: colbert, encoder: { windowRadius: [undefined, 8] } },
      "checkpoint_unsupported",
      "attention windows",
    ],
  ])("is refused with %s", async (_, given, code, message) => {
    await expect(protocolOf(given)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

it("accepts any settings or refuses them with an error code", async () => {
  const keys = ["query_length", "document_length", "query_maxlen", "doc_maxlen", "query_prefix", "query_token_id"];
  const more = ["skiplist_words", "do_query_expansion", "attend_to_expansion_tokens", "mask_punctuation", "model_type"];
  const value = fc.oneof(fc.constantFrom(1, 4, 64, "[Q] ", "ColBERT", true, null), fc.jsonValue());
  const settings = fc.dictionary(fc.constantFrom(...keys, ...more), value);
  await fc.assert(
    fc.asyncProperty(settings, fc.boolean(), async (given, isStanford) => {
      const read = protocolOf(isStanford ? { metadata: given } : { pylate: given });
      expect(["accepted", "checkpoint_invalid", "checkpoint_unsupported"]).toContain(await refusalOf(read));
      const protocol = await read.catch(() => undefined);
      if (protocol) expect(Math.min(protocol.query.length, protocol.document.length)).toBeGreaterThanOrEqual(4);
    }),
    seeded(runs(40, 300)),
  );
});

describe("the protocol of Stanford's ColBERT", () => {
  it("is read from artifact.metadata", async () => {
    const metadata = { query_token_id: "[unused0]", doc_token_id: "[unused1]", query_maxlen: 20, doc_maxlen: 50 };
    expect(
      await protocolOf({ metadata: { ...metadata, mask_punctuation: false, attend_to_mask_tokens: true } }),
    ).toEqual({
      query: { length: 20, marker: 1, expansion: { token: 103, isAttended: true } },
      document: { length: 50, marker: 2, skipped: [] },
    });
  });

  it("has defaults", async () => {
    expect(await protocolOf({})).toEqual({
      query: { length: 32, marker: 1, expansion: { token: 103, isAttended: false } },
      document: { length: 64, marker: 2, skipped: [100, 11, 10] },
    });
  });
});
