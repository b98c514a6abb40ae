import { BertEdgeError } from "../../artifact/error.ts";
import { totalLength } from "../../artifact/total-length.ts";
import type { TokenIds, TokenPair } from "../engine/engine.ts";
import { longestFirst } from "./longest-first.ts";
import type { PairTokens } from "./pair-tokens.ts";

export interface Tokenizer {
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @returns `ids`, the token ids, and `tokens`, the number of token ids before truncation. If a text is very long,
   *   only its beginning is read. Then `tokens` can differ from the real number, but it is larger than `maxTokens`.
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
  /**
   * Encodes two texts as one sequence, as cross-encoders and models for question answering read them.
   *
   * @param maxTokens maximum number of ids, including special tokens; the longer text is truncated first
   * @returns the pair, and `tokens` as in `encode`
   * @throws BertEdgeError `pairs_unsupported` if the tokenizer has no template for two texts that `PairTokens` describes
   */
  encodePair(first: string, second: string, maxTokens: number): TokenPair & { tokens: number };
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Special token ids around two texts; undefined if the tokenizer cannot encode pairs. */
  readonly pair?: PairTokens | undefined;
  /** Words with more characters than this become one unknown token. */
  readonly longestWord: number;
  /**
   * Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length.
   */
  contentOf(text: string): number[];
}

/**
 * Creates a tokenizer that first reads only the beginning of a long text. This beginning can end inside a word. Then
 * the ids of the last word can be wrong, but a word has at most `longestWord` ids. If truncation removes more than
 * `longestWord` ids, it removes all wrong ids. Otherwise the tokenizer reads the whole text.
 */
export function tokenizerOf({ prefix, suffix, pair, longestWord, contentOf }: TokenizerParts): Tokenizer {
  /** Number of characters that are read first. */
  const headLength = (room: number) => (room + longestWord) * longestWord;

  /** Returns the ids of a text, or more than `room` ids of its beginning. */
  function beginningOf(text: string, room: number): number[] {
    const head = text.slice(0, headLength(room));
    const beginning = contentOf(head);
    const isEnough = head.length === text.length || beginning.length > room + longestWord;
    return isEnough ? beginning : contentOf(text);
  }

  return {
    encode(text, maxTokens) {
      const specials = prefix.length + suffix.length;
      const content = beginningOf(text, maxTokens - specials);
      const ids = joined([prefix, content.slice(0, maxTokens - specials), suffix]);
      return { ids, tokens: content.length + specials };
    },
    encodePair(first, second, maxTokens) {
      if (!pair) throw pairsUnsupported();
      const specials = pair.prefix.length + pair.separator.length + pair.suffix.length;
      const room = Math.max(0, maxTokens - specials);
      let [a, b] = [beginningOf(first, room), beginningOf(second, room)];
      if (Math.min(a.length, b.length) > room && Math.max(first.length, second.length) > headLength(room)) {
        // Truncation must know which text has more tokens.
        [a, b] = [contentOf(first), contentOf(second)];
      }
      const [ofFirst, ofSecond] = longestFirst(a.length, b.length, room);
      const parts = [pair.prefix, a.slice(0, ofFirst), pair.separator, b.slice(0, ofSecond), pair.suffix];
      const ids = joined(parts);
      const secondFrom = pair.secondFrom === undefined ? ids.length : pair.prefix.length + ofFirst + pair.secondFrom;
      return { ids, secondFrom, tokens: a.length + b.length + specials };
    },
  };
}

function joined(parts: readonly (readonly number[])[]): TokenIds {
  const ids = new Int32Array(totalLength(parts));
  let end = 0;
  for (const part of parts) {
    ids.set(part, end);
    end += part.length;
  }
  return ids;
}

const pairsUnsupported = () =>
  new BertEdgeError(
    "pairs_unsupported",
    "The tokenizer cannot encode two texts: it has no template for pairs, or none with token types 0 for the first text and 0 or 1 for the second.",
    {
      hint: "Use a model whose tokenizer.json has such a template. If it has one, prepare the artifact again with this version of bert-edge.",
    },
  );
