import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../artifact/manifest.ts";
import type { Side } from "../truncation.ts";
import { PostProcessor } from "./post-processor.ts";
import { specialTokens } from "./special-tokens.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { tokenizerOf } from "./tokenizer-of.ts";
import type { VocabularyText } from "./vocabulary-text.ts";

/**
 * Number of tokens that a word is assumed to have at most: the default `max_input_chars_per_word` of WordPiece. Longer words become
 * one unknown token.
 */
const LONGEST_WORD = 100;

/**
 * Creates a tokenizer of any kind that @huggingface/tokenizers supports.
 *
 * @param json content of tokenizer.json
 * @param config content of tokenizer_config.json
 * @param side end at which texts that are too long are cut. Default: the right
 * @param vocabularySize vocabulary size of the model; every token id must be smaller. Default: any
 * @throws Error for a token id outside of the model's vocabulary, and any error of @huggingface/tokenizers for files that it does
 *   not understand
 */
export function createJsonTokenizer(
  json: object,
  config: object,
  side?: Side,
  vocabularySize = Number.POSITIVE_INFINITY,
): Tokenizer {
  const tokenizer = new HuggingFaceTokenizer(json, config);
  const beyond = [...tokenizer.get_vocab().values()].find((id) => !(id >= 0 && id < vocabularySize));
  if (beyond !== undefined)
    throw new Error(`the token id ${beyond} is not in the model's vocabulary of ${vocabularySize}`);
  const processor = v.safeParse(v.object({ post_processor: PostProcessor }), json);
  return tokenizerOf({
    vocabulary: vocabularyOf(tokenizer),
    ...aroundTexts(tokenizer),
    pair: processor.success ? specialTokens(processor.output.post_processor)?.pair : undefined,
    side,
    longestWord: LONGEST_WORD,
    splitsAtBlanks: false,
    contentOf: (text) => readable(() => tokenizer.encode(text, { add_special_tokens: false }).ids),
  });
}

/**
 * Calls @huggingface/tokenizers, and turns its errors into `tokenizer_invalid`. The library checks its files only as far as a text
 * needs them, so any text can show that they are damaged.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
function readable<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    const what = `The files of the tokenizer are damaged: ${Object(cause).message}`;
    throw new BertEdgeError("tokenizer_invalid", what, { hint: PREPARE_AGAIN, cause });
  }
}

/** Returns the special token ids before and after every text. Finds them by encoding a one-character text. */
function aroundTexts(tokenizer: HuggingFaceTokenizer): { prefix: number[]; suffix: number[] } {
  const content: number[] = tokenizer.encode("a", { add_special_tokens: false }).ids;
  const whole: number[] = tokenizer.encode("a").ids;
  const start = whole.findIndex((_, at) => content.every((id, offset) => whole[at + offset] === id));
  return { prefix: whole.slice(0, start), suffix: whole.slice(start + content.length) };
}

function vocabularyOf(tokenizer: HuggingFaceTokenizer): VocabularyText {
  const added = tokenizer.get_added_tokens_decoder();
  return {
    spellingOf: (id) => tokenizer.id_to_token(id),
    idOf: (spelling) => tokenizer.token_to_id(spelling),
    isSpecial: (id) => added.get(id)?.special === true,
    // The library refuses to decode an empty list.
    decode: (ids, { skipSpecial = false } = {}) =>
      ids.length === 0 ? "" : readable(() => tokenizer.decode(Array.from(ids), { skip_special_tokens: skipSpecial })),
  };
}
