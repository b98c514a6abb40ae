import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkedGolden, writtenCase } from "#test/fixtures/checked-golden.ts";
import {
  type ColbertCase,
  type GoldenFolder,
  goldenFolders,
  type SentenceCase,
  writeGoldenFolder,
} from "#test/fixtures/golden-folder.ts";
import { type FolderEdit, modulesOf } from "#test/fixtures/present-case.ts";
import { describeModel } from "../model/describe-model.ts";

describe("a golden file of the authors' libraries", () => {
  it.each([
    "embed",
    "embed, cls without Normalize",
    "embed, default prompt",
    "embed, RoBERTa",
    "embed, XLM-RoBERTa",
    "classify",
    "rerank",
    "sparse",
    "token-vectors",
    "embed, cut at the left",
    "embed, prompt not pooled",
    "embed, lower case",
    "rerank, logits",
    "rerank, cut at 32",
    "rerank, one token type",
  ])("agrees with a folder that is read rightly: %s", async (name) => {
    const { agreement } = await checkedGolden(await writtenCase(name));
    expect(agreement.worst.agreement).toBeGreaterThan(0.999_999);
  });

  const POOLING = "1_Pooling/config.json";
  const PROMPTS = "config_sentence_transformers.json";
  const TOKENIZER = "tokenizer_config.json";
  const plain = "embed, cls without Normalize";
  it.each<[what: string, name: string, edit: FolderEdit, reading: string]>([
    ["another pooling", "embed", { [POOLING]: { pooling_mode: "cls" } }, "with mean pooling instead of cls"],
    [
      "a lost Normalize",
      "embed",
      { "modules.json": modulesOf("embed", "Transformer", "Pooling") },
      "if vectors are normalized",
    ],
    [
      "a foreign Normalize",
      plain,
      { "modules.json": modulesOf("embed", "Transformer", "Pooling", "Normalize") },
      "if vectors are not normalized",
    ],
    [
      "another end of texts",
      "embed, cut at the left",
      { [TOKENIZER]: { truncation_side: undefined } },
      "if texts that are too long are cut at their beginning",
    ],
    [
      "another length",
      "embed",
      { [TOKENIZER]: { model_max_length: 64 } },
      "if texts are cut at 32 tokens instead of 64",
    ],
    [
      "a prompt in the pooling",
      "embed, prompt not pooled",
      { [POOLING]: { include_prompt: true } },
      "if the tokens of prompts are not pooled",
    ],
    ["capitals", "embed, lower case", { [TOKENIZER]: { do_lower_case: false } }, "if texts are lower-cased first"],
    [
      "a lost default prompt",
      "embed, default prompt",
      { [PROMPTS]: { default_prompt_name: undefined } },
      'if lines without a prompt get the prompt "query"',
    ],
    [
      "a new default prompt",
      "embed",
      { [PROMPTS]: { default_prompt_name: "passage" } },
      'without the default prompt "passage"',
    ],
    [
      "another activation of labels",
      "classify",
      { "config.json": { problem_type: "multi_label_classification" } },
      "if logits become scores by softmax",
    ],
    [
      "another activation of a reranker",
      "rerank, logits",
      { [PROMPTS]: { activation_fn: undefined } },
      "if scores are logits",
    ],
    [
      "another length of pairs",
      "rerank, cut at 32",
      { [TOKENIZER]: { model_max_length: 64 } },
      "if texts are cut at 32 tokens instead of 64",
    ],
    [
      "other token types",
      "rerank, one token type",
      { [TOKENIZER]: { tokenizer_class: "BertTokenizer" } },
      "if both texts of each pair have the token type 0",
    ],
  ])("refuses %s, and names the reading that fits: %s", async (_, name, edit, reading) => {
    const refusal = checkedGolden(await writtenCase(name, edit));
    await expect(refusal).rejects.toMatchObject({
      code: "golden_mismatch",
      hint: expect.stringContaining(reading),
    });
  });
});

/** Writes a golden file beside the folder of a case, and compares them. Returns the worst agreement. */
async function agreementWith(stored: GoldenFolder, lines: readonly object[]): Promise<number> {
  const folder = await writeGoldenFolder(stored);
  const golden = join(folder, "../golden.jsonl");
  await writeFile(golden, lines.map((line) => JSON.stringify(line)).join("\n"));
  return (await checkedGolden({ folder, golden })).agreement.worst.agreement;
}

/** Minimum agreement: the files store seven decimals. */
const ROUNDED = 0.999_999;

describe("the golden folders of other tests", () => {
  it.each(goldenFolders<SentenceCase>("sentences.json"))("%s", async (_, { texts, vectors, ...stored }) => {
    const asked = stored.search ? { side: stored.search } : { prompt_name: stored.prompt };
    const lines = texts.map((text, i) => ({ text, ...asked, embedding: vectors[i] }));
    expect(await agreementWith(stored, lines)).toBeGreaterThan(ROUNDED);
  });

  it.each(goldenFolders<ColbertCase>("colbert.json"))("ColBERT, %s", async (_, { texts, ...stored }) => {
    const { dimensions = 0 } = (await describeModel(await writeGoldenFolder(stored))).task as { dimensions?: number };
    const rowsOf = (all: readonly number[] = []) =>
      Array.from({ length: all.length / dimensions }, (_, i) => all.slice(i * dimensions, (i + 1) * dimensions));
    const linesOf = (side: "query" | "document", key: "queries" | "documents") =>
      texts[key].map((text, i) => ({ text, side, embeddings: rowsOf(stored[key][i]) }));
    const lines = [...linesOf("query", "queries"), ...linesOf("document", "documents")];
    expect(await agreementWith(stored, lines)).toBeGreaterThan(ROUNDED);
  });
});
