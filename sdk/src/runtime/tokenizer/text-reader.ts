import { BertEdgeError } from "../../artifact/error.ts";
import type { PlacedContent, TokenizerParts } from "./tokenizer-parts.ts";

/** Number of characters that are read first for each token that is needed. English texts have 4 to 5 characters per token. */
const FIRST_CHARACTERS = 16;
/** Factor by which the number of characters grows while they give too few tokens. */
const GROWTH = 4;
/** Number of characters before the end in which `lastBlank` searches. */
const SEARCHED = 1_000;
/**
 * Maximum number of characters of a text that must be read to its end, or whose tokens need places. Finding the places takes up to
 * 130 bytes of memory per character, and an isolate has 128 MB.
 */
const MAX_WHOLE_CHARACTERS = 250_000;

/** Reads the tokens of texts, without special tokens. */
export interface TextReader {
  /**
   * Returns the ids of a text, or more than `room` ids of its beginning.
   *
   * @param room number of ids that are needed; infinite to read the text to its end
   * @throws BertEdgeError `input_too_long` if the text must be read to its end, but is too long
   */
  idsOf(text: string, room: number): number[];
  /**
   * Returns the same ids as `idsOf`, and their places in the text.
   *
   * @throws BertEdgeError `offsets_unsupported`, `input_too_long`
   */
  placedOf(text: string, room: number): PlacedContent;
  /** Returns the number of ids of a text, however long it is. */
  countOf(text: string): number;
}

/**
 * Creates a reader that reads only as much of a text as it needs: memory and time depend on `room`, not on the text's length.
 *
 * The beginning that is read ends before a blank between two words, if the tokenizer splits words there. Otherwise it can end inside
 * a word, and the ids of its last word can be wrong. A word has at most `longestWord` ids. So the reader reads more than this
 * number of ids in addition to those needed, and truncation removes all wrong ids.
 */
export function textReader({
  longestWord,
  splitsAtBlanks,
  contentOf,
  placedContentOf = offsetsUnsupported,
}: Pick<TokenizerParts, "longestWord" | "splitsAtBlanks" | "contentOf" | "placedContentOf">): TextReader {
  /**
   * Reads a text, or only a beginning that has more than `room` correct tokens.
   *
   * @param read reads the tokens of a text, and may stop after more than `enough` tokens
   */
  function readEnough<T>(
    read: (text: string, enough?: number) => T,
    tokensOf: (content: T) => number,
    text: string,
    room: number,
  ): T {
    const firstLength = FIRST_CHARACTERS * (room + 1);
    for (let length = firstLength; length < text.length; length *= GROWTH) {
      const blank = splitsAtBlanks ? lastBlank(text, length) : undefined;
      if (blank === undefined && longestWord === Number.POSITIVE_INFINITY) break;
      const beginning = read(text.slice(0, blank ?? length));
      if (tokensOf(beginning) > room + (blank === undefined ? longestWord : 0)) return beginning;
    }
    return text.length > firstLength ? read(text, room) : read(text);
  }

  return {
    idsOf(text, room) {
      if (room === Number.POSITIVE_INFINITY) assertWhole(text);
      return readEnough(contentOf, (ids) => ids.length, text, room);
    },
    placedOf(text, room) {
      const read = (part: string) => {
        assertWhole(part);
        return placedContentOf(part);
      };
      return readEnough(read, ({ ids }) => ids.length, text, room);
    },
    countOf: (text) => contentOf(text).length,
  };
}

/**
 * Returns the index of the last blank between two ASCII letters or digits in the first `length` characters; undefined if their last
 * `SEARCHED` characters have none. Blanks next to other characters do not count: a combining mark joins with the blank before it, and
 * neighbouring blanks are read together.
 */
function lastBlank(text: string, length: number): number | undefined {
  const from = Math.max(0, length - SEARCHED);
  const last = [...text.slice(from, length).matchAll(/[a-z\d] (?=[a-z\d])/gi)].at(-1);
  return last && from + last.index + 1;
}

/** @throws BertEdgeError `input_too_long` */
function assertWhole(text: string): void {
  if (text.length <= MAX_WHOLE_CHARACTERS) return;
  throw new BertEdgeError(
    "input_too_long",
    `A text has ${text.length} characters, but may have at most ${MAX_WHOLE_CHARACTERS} if it must be read to its end: to find the places of its tokens, to cut it at its left, or to embed it in chunks.`,
    { hint: "Split the text, and send its parts." },
  );
}

const offsetsUnsupported = (): never => {
  throw new BertEdgeError(
    "offsets_unsupported",
    "The tokenizer does not know where tokens are in a text, because it has no packed form.",
    {
      hint: "Use a model with a WordPiece, BPE or Unigram tokenizer, and prepare it with this version of bert-edge.",
    },
  );
};
