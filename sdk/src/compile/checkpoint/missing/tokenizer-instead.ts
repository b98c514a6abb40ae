import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { pythonCommand } from "../../files/python-command.ts";
import { readTextSync } from "../../files/regular-file.ts";
import { pythonTokenizer } from "../tokenizer/python-tokenizer.ts";
import type { Instead } from "./instead.ts";

/** Vocabularies that transformers makes a tokenizer.json from. */
const vocabularies = ["vocab.txt", "vocab.json"];

/** Vocabularies of SentencePiece. Python's packages sentencepiece and protobuf read them. */
const sentencePieces = ["sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model"];

/** Files from which transformers makes a tokenizer.json. */
export const vocabularyFiles: readonly string[] = [...vocabularies, ...sentencePieces];

/**
 * Finds what a tokenizer.json can be made from.
 *
 * @param names names of the folder's files
 */
export function tokenizerInstead(folder: string, names: readonly string[]): Instead | undefined {
  const inPython = pythonTokenizer(settingsOf(folder)) ?? (names.includes("bpe.codes") ? PYTHON_CODE : undefined);
  if (inPython !== undefined) {
    return {
      code: "checkpoint_unsupported",
      but: `${inPython}, which no tokenizer.json can do`,
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

/** Describes a tokenizer whose merges are those of fastBPE. */
const PYTHON_CODE = "its tokenizer splits texts with Python code";

/** Reads tokenizer_config.json; nothing if there is none that can be read. */
function settingsOf(folder: string): unknown {
  const path = join(folder, "tokenizer_config.json");
  const text = existsSync(path) ? readTextSync(path) : "{}";
  return v.parse(v.fallback(v.pipe(v.string(), v.parseJson()), {}), text);
}
