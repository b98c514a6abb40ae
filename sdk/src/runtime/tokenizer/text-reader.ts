import { BertEdgeError } from "../../artifact/error.ts";
import type { PlacedContent, TokenizerParts } from "./tokenizer-parts.ts";

/** Characters of a text that are read first, for each token that is needed. English texts have 4 to 5. */
const FIRST_CHARACTERS = 16;
/** Factor by which more characters are read if their tokens are not enough. */
const GROWTH = 4;
/** Characters in which `lastBlank` searches. */
const SEARCHED = 1_000;
/**
 * Characters of a text that can be read to its end, and for which places of tokens can be found. Places need up to 130 bytes for
 * each meanwhile, and an isolate has 128 MB.
 */
const MAX_WHOLE_CHARACTERS = 250_000;

/** Reads the tokens of texts, without special tokens. */
export interface TextReader {
  /**
   * Returns the ids of a text, or more than `room` ids of its beginning.
   *
   * @param room infinite: reads the text to its end
   * @throws BertEdgeError `input_too_long` if the text must be read to its end and is too long for it
   */
  idsOf(text: string, room: number): number[];
  /**
   * Returns the same ids, and where they are.
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
 * of a word. Then the ids of the last word can be wrong, but a word has at most `longestWord` ids: if truncation removes more
 * than these, it removes all wrong ids.
 */
export function textReader({
  longestWord,
  splitsAtBlanks,
  contentOf,
  placedContentOf = offsetsUnsupported,
}: Pick<TokenizerParts, "longestWord" | "splitsAtBlanks" | "contentOf" | "placedContentOf">): TextReader {
  /** @param read reads a text, or only its beginning, and may stop after more than `enough` tokens */
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
 * Returns where the last blank between two ASCII letters or digits is in the first `length` characters; undefined if there is none
 * near their end. Other characters around it could change its meaning: marks join with it, and several blanks are read together.
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
    `A text has ${text.length} characters. To find the places of its tokens, to cut it at its left, or to embed it in chunks, it must be read to its end, and may have at most ${MAX_WHOLE_CHARACTERS}.`,
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
