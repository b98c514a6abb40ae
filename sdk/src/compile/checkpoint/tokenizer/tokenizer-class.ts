import * as v from "valibot";

/** Keys that tell which class of transformers reads the tokenizer files, and which version wrote the folder. */
const ModelKeys = v.object({
  model_type: v.optional(v.string()),
  tokenizer_class: v.nullish(v.string()),
  transformers_version: v.nullish(v.string()),
});
const TokenizerKeys = v.object({ tokenizer_class: v.nullish(v.string()) });

/** The class of transformers that reads a folder's tokenizer files. */
export interface TokenizerClass {
  /** Name without `Fast`. `PreTrainedTokenizer` and `TokenizersBackend` read any tokenizer.json. */
  readonly name: string;
  /**
   * Whether transformers 5 or newer wrote the folder. Version 5 reads some keys in another way than version 4, so the version
   * that wrote a folder decides. Folders that do not name their version are read as version 4 does.
   */
  readonly isRecent: boolean;
}

/**
 * Classes by model type, for folders that name no class.
 * https://github.com/huggingface/transformers/blob/v4.57.1/src/transformers/models/auto/tokenization_auto.py
 */
const classes: Readonly<Record<string, string>> = {
  albert: "AlbertTokenizer",
  bert: "BertTokenizer",
  camembert: "CamembertTokenizer",
  "deberta-v2": "DebertaV2Tokenizer",
  distilbert: "DistilBertTokenizer",
  electra: "ElectraTokenizer",
  mpnet: "MPNetTokenizer",
  roberta: "RobertaTokenizer",
  "xlm-roberta": "XLMRobertaTokenizer",
};

/** Classes by model type in transformers 5, where they differ from the classes of version 4. */
const recentClasses: Readonly<Record<string, string>> = {
  distilbert: "BertTokenizer",
  gte: "XLMRobertaTokenizer",
  nomic_bert: "BertTokenizer",
};

/** Names, without `Tokenizer`, of classes that are BERT's tokenizer in transformers 4 and 5. */
const namesOfBert = [
  "SqueezeBert",
  "LayoutLM",
  "MobileBert",
  "Lxmert",
  "DPRQuestionEncoder",
  "DPRContextEncoder",
  "DPRReader",
];
/** Names of classes that are BERT's tokenizer in version 4 only. Version 5 reads their tokenizer.json as it is. */
const olderNamesOfBert = ["ConvBert", "RetriBert", "Realm"];

/** Class of transformers 5 that reads any tokenizer.json as it is. */
const AS_IT_IS = "TokenizersBackend";
/** Model types whose tokenizer.json transformers 5 reads as it is, whatever the class. */
const readAsTheyAre = ["modernbert"];

/** Class that reads any tokenizer.json, and knows no family. */
const ANY = "PreTrainedTokenizer";

/**
 * Finds the class as AutoTokenizer does: by tokenizer_config.json, then by config.json, then by the model type.
 *
 * @param config content of config.json; empty if there is no such file
 */
export function tokenizerClass(settings: object, config: object): TokenizerClass {
  const { tokenizer_class: own } = v.parse(v.fallback(TokenizerKeys, {}), settings);
  const keys = v.parse(v.fallback(ModelKeys, {}), config);
  const isRecent = Number.parseInt(keys.transformers_version ?? "", 10) >= 5;
  const type = keys.model_type ?? "";
  if (isRecent && readAsTheyAre.includes(type)) return { name: AS_IT_IS, isRecent };
  const ofTypes = isRecent ? { ...classes, ...recentClasses } : classes;
  const ofType = Object.hasOwn(ofTypes, type) ? ofTypes[type] : undefined;
  const name = (own ?? keys.tokenizer_class ?? ofType ?? ANY).replace(/Fast$/, "");
  const likeBert = isRecent ? namesOfBert : [...namesOfBert, ...olderNamesOfBert];
  return { name: likeBert.includes(name.replace(/Tokenizer$/, "")) ? "BertTokenizer" : name, isRecent };
}

/** Keys that show whether a tokenizer runs in Python, without a tokenizer.json. */
const Settings = v.object({
  tokenizer_class: v.nullish(v.string()),
  word_tokenizer_type: v.nullish(v.string()),
});

/** Programs that split Japanese into words, by the values of `word_tokenizer_type`. */
const programs: Readonly<Record<string, string>> = { mecab: "MeCab", sudachi: "Sudachi", jumanpp: "Juman++" };

/** Tokenizers of transformers that read no tokenizer.json, because Python code splits the text. */
const inPython = /^(BertJapanese|Phobert|Bertweet|Flaubert|XLM|Canine)Tokenizer$/;

/**
 * Returns a clause about a tokenizer that runs in Python, such as "BertJapaneseTokenizer splits texts with MeCab".
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
