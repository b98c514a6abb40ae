import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { pythonCommand } from "../../files/python-command.ts";
import type { Instead } from "./instead.ts";

/** Vocabularies that transformers makes a tokenizer.json from. */
const vocabularies = ["vocab.txt", "vocab.json"];

/** Vocabularies of SentencePiece. Python's packages sentencepiece and protobuf read them. */
const sentencePieces = ["sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model"];

/** Files from which transformers makes a tokenizer.json. */
export const vocabularyFiles: readonly string[] = [...vocabularies, ...sentencePieces];

/** The keys that name a tokenizer without a tokenizer.json. */
const Config = v.looseObject({
  tokenizer_class: v.nullish(v.string()),
  word_tokenizer_type: v.nullish(v.string()),
});

/** Programs that split Japanese into words, by the values of `word_tokenizer_type`. */
const programs: Readonly<Record<string, string>> = { mecab: "MeCab", sudachi: "Sudachi", jumanpp: "Juman++" };

/** Tokenizers of transformers that have no tokenizer.json because a Python package splits the text. */
const inPython = /^(BertJapanese|Phobert|Bertweet|Flaubert|XLM)Tokenizer$/;

/**
 * Finds what a tokenizer.json can be made from.
 *
 * @param names names of the folder's files
 */
export function tokenizerInstead(folder: string, names: readonly string[]): Instead | undefined {
  const { tokenizer_class: name, word_tokenizer_type: words } = configOf(folder);
  const program = programs[words ?? ""] ?? (name === "BertJapaneseTokenizer" ? "MeCab" : undefined);
  if (program !== undefined || inPython.test(name ?? "") || names.includes("bpe.codes")) {
    return {
      code: "checkpoint_unsupported",
      but: `${name ?? "its tokenizer"} splits texts with ${program ?? "Python code"}, which no tokenizer.json can do`,
      hint: "Choose a model whose tokenizer has a tokenizer.json: one that transformers loads as a tokenizer with is_fast.",
    };
  }
  const found = vocabularyFiles.find((file) => names.includes(file));
  if (found === undefined) return undefined;
  const path = JSON.stringify(folder);
  const command = pythonCommand(
    `from transformers import AutoTokenizer; AutoTokenizer.from_pretrained(${path}).save_pretrained(${path})`,
  );
  const needs = sentencePieces.includes(found) ? " (it needs `pip install sentencepiece protobuf`)" : "";
  return { but: `${found} does`, hint: `Make tokenizer.json from it with transformers${needs}:\n    ${command}` };
}

/** Reads tokenizer_config.json; nothing if there is none that can be read. */
function configOf(folder: string): v.InferOutput<typeof Config> {
  const path = join(folder, "tokenizer_config.json");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "{}";
  return v.parse(v.fallback(v.pipe(v.string(), v.parseJson(), Config), {}), text);
}
