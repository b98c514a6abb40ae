import * as v from "valibot";

/** The keys that name a tokenizer without a tokenizer.json. */
const Settings = v.object({
  tokenizer_class: v.nullish(v.string()),
  word_tokenizer_type: v.nullish(v.string()),
});

/** Programs that split Japanese into words, by the values of `word_tokenizer_type`. */
const programs: Readonly<Record<string, string>> = { mecab: "MeCab", sudachi: "Sudachi", jumanpp: "Juman++" };

/** Tokenizers of transformers that read no tokenizer.json, because Python code splits the text. */
const inPython = /^(BertJapanese|Phobert|Bertweet|Flaubert|XLM|Canine)Tokenizer$/;

/**
 * Says what splits the texts of a tokenizer that is Python code.
 *
 * @param settings content of tokenizer_config.json
 * @returns undefined if tokenizer_config.json names no such tokenizer
 */
export function pythonTokenizer(settings: unknown): string | undefined {
  const { tokenizer_class: name, word_tokenizer_type: words } = v.parse(v.fallback(Settings, {}), settings);
  const usual = name === "BertJapaneseTokenizer" ? "mecab" : "";
  const program = programs[words ?? usual];
  const isPython = name === undefined || name === null ? program !== undefined : inPython.test(name);
  return isPython ? `${name ?? "its tokenizer"} splits texts with ${program ?? "Python code"}` : undefined;
}
