import { BertEdgeError } from "../../artifact/error.ts";
import { totalLength } from "../../artifact/total-length.ts";
import type { TokenIds, TokenPair } from "../engine/engine.ts";
import type { Side } from "../truncation.ts";
import { longestFirst } from "./longest-first.ts";
import type { PairTokens } from "./pair-tokens.ts";
import type { VocabularyText } from "./vocabulary-text.ts";

export interface Tokenizer {
  /** The tokens as texts. */
  readonly vocabulary: VocabularyText;
  /** Id of the token for words or characters that are not in the vocabulary; undefined if the tokenizer has none. */
  readonly unknownId?: number | undefined;
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @param side where it is truncated. Default `right`
   * @returns `ids`, the token ids, and `tokens`, the number of token ids before truncation. If a text is very long,
   *   only its beginning is read. Then `tokens` can differ from the real number, but it is larger than `maxTokens`.
   */
  encode(text: string, maxTokens: number, side?: Side): { ids: TokenIds; tokens: number };
  /**
   * Encodes a text, and tells where its tokens are. Slower than `encode`.
   *
   * @param maxTokens as in `encode`, as is `side`
   * @throws BertEdgeError `offsets_unsupported` if the artifact has no packed tokenizer; `input_too_long` if more than
   *   500,000 characters of the text must be read
   */
  encodePlaced(text: string, maxTokens: number, side?: Side): PlacedTokens & { tokens: number };
  /**
   * Encodes a question with a long text, in as many sequences as the text needs: each has another part of it, and parts overlap
   * by `stride` tokens. transformers does the same with `truncation="only_second"` and `return_overflowing_tokens`.
   *
   * @param options.maxTokens maximum number of ids of a sequence, including special tokens
   * @param options.maxQuestionTokens maximum number of ids of the question; a longer one is truncated
   * @throws BertEdgeError `pairs_unsupported`, `offsets_unsupported`; `input_too_long` if a sequence has no room for more
   *   than `stride` tokens of the text, or if the text has more than 500,000 characters
   */
  encodeWindows(question: string, context: string, options: WindowOptions): TextWindow[];
  /**
   * Encodes a text in as many sequences as it needs: each has the next part of it.
   *
   * @param maxTokens maximum number of ids of a sequence, including special tokens
   */
  encodeChunks(text: string, maxTokens: number): TokenIds[];
  /**
   * Encodes two texts as one sequence, as cross-encoders and models for question answering read them.
   *
   * @param maxTokens maximum number of ids, including special tokens; the longer text is truncated first
   * @param side as in `encode`
   * @returns the pair, and `tokens` as in `encode`
   * @throws BertEdgeError `pairs_unsupported` if the tokenizer has no template for two texts that `PairTokens` describes
   */
  encodePair(first: string, second: string, maxTokens: number, side?: Side): TokenPair & { tokens: number };
}

/** Tokens, and where they are in their text. */
export interface PlacedTokens {
  readonly ids: TokenIds;
  /** UTF-16 start and end of each token in the text: [2 × ids]; 0, 0 for special tokens and those of another text. */
  readonly offsets: Int32Array<ArrayBuffer>;
  /** Index of each token's word: [ids]; -1 for special tokens and those of another text. */
  readonly words: Int32Array<ArrayBuffer>;
  /**
   * Code points of each token as the vocabulary spells it, such as 5 for `##ing`: [ids]; undefined if the tokenizer does not mark
   * tokens that continue a word with a prefix.
   */
  readonly spelled?: Int32Array<ArrayBuffer> | undefined;
}

export interface WindowOptions {
  readonly maxTokens: number;
  readonly maxQuestionTokens: number;
  readonly stride: number;
}

/** A question with a part of a text. Offsets and words are those of the text. */
export interface TextWindow extends TokenPair, PlacedTokens {}

/** Token ids without special tokens, and where they are. */
export interface PlacedContent {
  readonly ids: readonly number[];
  /** UTF-16 start and end of each token: [2 × ids] */
  readonly spans: readonly number[];
  /** Index of each token's word: [ids] */
  readonly words: readonly number[];
  /** Code points of each token as the vocabulary spells it: [ids] */
  readonly spelled?: readonly number[];
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  readonly vocabulary: VocabularyText;
  readonly unknownId?: number | undefined;
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Special token ids around two texts; undefined if the tokenizer cannot encode pairs. */
  readonly pair?: PairTokens | undefined;
  /** Words with more characters than this become one unknown token. Infinite without such a limit. */
  readonly longestWord: number;
  /** Whether the tokens before a blank between two words do not depend on what follows it. */
  readonly splitsAtBlanks: boolean;
  /**
   * Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length.
   *
   * @param enough after more ids than this, the others may be left out
   */
  contentOf(text: string, enough?: number): number[];
  /** Returns the same ids, and where they are; undefined if the tokenizer does not know it. */
  placedContentOf?: ((text: string) => PlacedContent) | undefined;
}

/** Characters for which places can be found. Each needs up to 140 bytes meanwhile, and an isolate has 128 MB. */
const MAX_PLACED_CHARACTERS = 500_000;

/** Characters of a text that are read first, for each token that is needed. English texts have 4 to 5. */
const FIRST_CHARACTERS = 16;
const firstLength = (room: number): number => FIRST_CHARACTERS * (room + 1);
/** Factor by which more characters are read if their tokens are not enough. */
const GROWTH = 4;

/**
 * Creates a tokenizer that reads only as much of a text as it needs: memory and time depend on `maxTokens`, not on the text's length.
 *
 * The beginning that is read ends before a blank between two words, if the tokenizer splits words there. Otherwise it can end inside
 * of a word. Then the ids of the last word can be wrong, but a word has at most `longestWord` ids: if truncation removes more
 * than these, it removes all wrong ids.
 */
export function tokenizerOf({
  prefix,
  suffix,
  pair,
  longestWord,
  splitsAtBlanks,
  contentOf,
  placedContentOf: placedContentOfAny = offsetsUnsupported,
  unknownId,
  vocabulary,
}: TokenizerParts): Tokenizer {
  /** Returns the ids of a text, or more than `room` ids of its beginning. */
  const beginningOf = (text: string, room: number): number[] => readEnough(contentOf, (ids) => ids.length, text, room);

  function placedContentOf(text: string): PlacedContent {
    if (text.length > MAX_PLACED_CHARACTERS) throw tooLongForPlaces(text.length);
    return placedContentOfAny(text);
  }

  /** @param read reads a text, or only its beginning, and may stop after more than `enough` tokens */
  function readEnough<T>(
    read: (text: string, enough?: number) => T,
    tokensOf: (content: T) => number,
    text: string,
    room: number,
  ): T {
    for (let length = firstLength(room); length < text.length; length *= GROWTH) {
      const blank = splitsAtBlanks ? lastBlank(text, length) : undefined;
      if (blank === undefined && longestWord === Number.POSITIVE_INFINITY) break;
      const beginning = read(text.slice(0, blank ?? length));
      if (tokensOf(beginning) > room + (blank === undefined ? longestWord : 0)) return beginning;
    }
    return text.length > firstLength(room) ? read(text, room) : read(text);
  }

  return {
    vocabulary,
    unknownId,
    encode(text, maxTokens, side = "right") {
      const specials = prefix.length + suffix.length;
      const content = beginningOf(text, roomFor(maxTokens - specials, side));
      const ids = joined([prefix, cut(content, maxTokens - specials, side), suffix]);
      return { ids, tokens: content.length + specials };
    },
    encodePlaced(text, maxTokens, side = "right") {
      const room = maxTokens - prefix.length - suffix.length;
      const content = readEnough(placedContentOf, ({ ids }) => ids.length, text, roomFor(room, side));
      const start = side === "left" ? Math.max(0, content.ids.length - room) : 0;
      const placed = placedTokens(prefix, content, { start, end: start + room }, suffix);
      return { ...placed, tokens: content.ids.length + prefix.length + suffix.length };
    },
    encodeChunks(text, maxTokens) {
      const room = maxTokens - prefix.length - suffix.length;
      const content = contentOf(text);
      const starts = Array.from({ length: Math.max(1, Math.ceil(content.length / room)) }, (_, i) => i * room);
      return starts.map((start) => joined([prefix, content.slice(start, start + room), suffix]));
    },
    encodeWindows(question, context, { maxTokens, maxQuestionTokens, stride }) {
      if (!pair) throw pairsUnsupported();
      const before = [...pair.prefix, ...beginningOf(question, maxQuestionTokens).slice(0, maxQuestionTokens)];
      const first = [...before, ...pair.separator];
      const room = maxTokens - first.length - pair.suffix.length;
      if (room <= stride) throw questionTooLong(room, stride);
      const content = placedContentOf(context);
      const windows: TextWindow[] = [];
      for (let start = 0; start === 0 || start + stride < content.ids.length; start += room - stride) {
        const placed = placedTokens(first, content, { start, end: start + room }, pair.suffix);
        const secondFrom = pair.secondFrom === undefined ? placed.ids.length : before.length + pair.secondFrom;
        windows.push({ ...placed, secondFrom });
      }
      return windows;
    },
    encodePair(first, second, maxTokens, side = "right") {
      if (!pair) throw pairsUnsupported();
      const specials = pair.prefix.length + pair.separator.length + pair.suffix.length;
      const room = Math.max(0, maxTokens - specials);
      const needed = roomFor(room, side);
      let [a, b] = [beginningOf(first, needed), beginningOf(second, needed)];
      if (Math.min(a.length, b.length) > room && Math.max(first.length, second.length) > firstLength(room)) {
        // Truncation must know which text has more tokens.
        [a, b] = [contentOf(first), contentOf(second)];
      }
      const [ofFirst, ofSecond] = longestFirst(a.length, b.length, room);
      const parts = [pair.prefix, cut(a, ofFirst, side), pair.separator, cut(b, ofSecond, side), pair.suffix];
      const ids = joined(parts);
      const secondFrom = pair.secondFrom === undefined ? ids.length : pair.prefix.length + ofFirst + pair.secondFrom;
      return { ids, secondFrom, tokens: a.length + b.length + specials };
    },
  };
}

/** Returns how many tokens must be read for `room` tokens: all, if the last ones are needed. */
const roomFor = (room: number, side: Side): number => (side === "left" ? Number.POSITIVE_INFINITY : room);

/** Returns `room` tokens of a text. */
const cut = (ids: readonly number[], room: number, side: Side): readonly number[] =>
  side === "left" ? ids.slice(Math.max(0, ids.length - room)) : ids.slice(0, room);

/** Characters in which `lastBlank` searches. */
const SEARCHED = 1_000;

/**
 * Returns where the last blank between two ASCII letters or digits is in the first `length` characters; undefined if there is none
 * near their end. Other characters around it could change its meaning: marks join with it, and several blanks are read together.
 */
function lastBlank(text: string, length: number): number | undefined {
  const from = Math.max(0, length - SEARCHED);
  const last = [...text.slice(from, length).matchAll(/[a-z\d] (?=[a-z\d])/gi)].at(-1);
  return last && from + last.index + 1;
}

/** Puts special tokens around a part of a text. */
function placedTokens(
  before: readonly number[],
  { ids, spans, words, spelled }: PlacedContent,
  { start, end }: { readonly start: number; readonly end: number },
  after: readonly number[],
): PlacedTokens {
  const all = joined([before, ids.slice(start, end), after]);
  const offsets = new Int32Array(2 * all.length);
  offsets.set(spans.slice(2 * start, 2 * end), 2 * before.length);
  const wordIds = new Int32Array(all.length).fill(-1);
  wordIds.set(words.slice(start, end), before.length);
  if (!spelled) return { ids: all, offsets, words: wordIds };
  const lengths = new Int32Array(all.length);
  lengths.set(spelled.slice(start, end), before.length);
  return { ids: all, offsets, words: wordIds, spelled: lengths };
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

const offsetsUnsupported = (): never => {
  throw new BertEdgeError(
    "offsets_unsupported",
    "The tokenizer does not know where tokens are in a text, because it has no packed form.",
    {
      hint: "Use a model with a WordPiece, byte-level BPE or Unigram tokenizer, and prepare it with this version of bert-edge.",
    },
  );
};

const tooLongForPlaces = (length: number) =>
  new BertEdgeError(
    "input_too_long",
    `A text has ${length} characters. The places of its tokens can be found in at most ${MAX_PLACED_CHARACTERS}.`,
    { hint: "Split the text, and send its parts." },
  );

const questionTooLong = (room: number, stride: number) =>
  new BertEdgeError(
    "input_too_long",
    `Beside the question, a sequence has room for ${Math.max(0, room)} tokens of the context, but parts of it overlap by ${stride} tokens.`,
    { hint: "Shorten the question, or let the parts overlap less." },
  );
