import type { PlacedTokens, Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import type { SeededChoice } from "./choose.ts";

const MAX_TOKENS = 64;
const STRIDE = 8;

/**
 * UTF-16 units of texts without blanks. Byte-level BPE merges words of more than 2 ** 14 in blocks, and work that is quadratic in the
 * length takes longer than an attempt may.
 */
const LONG = 100_000;
const repeated = (part: string) => part.repeat(Math.ceil(LONG / part.length));

const shortTexts = [
  "To be, or not to be: [MASK] that's <mask> the question ñandú 日本 😀 \u200b",
  "to be or not to be ".repeat(20),
  "  \t\n a\u0301e\u0301 \u0958\u00a9 (c) 12 345 !?",
  "\ud800 x \udc00",
  "[MASK]".repeat(30),
];
/** Long words: one letter, letters that merge, no token, marks, code points of several units, and added tokens. */
const longTexts = ["a", "tobe", "\u2603", "\u0301", "대한", "😀", "ab [MASK]", "to be "].map(repeated);
/** One attempt in this number reads a long text. */
const LONG_SHARE = 8;

interface Called {
  readonly ids: ArrayLike<number>;
  readonly secondFrom?: number;
}

type Method = (tokenizer: Tokenizer, text: string, choice: SeededChoice) => readonly Called[];

const methods: readonly Method[] = [
  (tokenizer, text) => [tokenizer.encode(text, MAX_TOKENS)],
  (tokenizer, text) => [tokenizer.encode(text, MAX_TOKENS, "left")],
  (tokenizer, text) => [placed(tokenizer.encodePlaced(text, MAX_TOKENS), text)],
  (tokenizer, text) => [placed(tokenizer.encodePlaced(text, MAX_TOKENS, "left"), text)],
  (tokenizer, text, choice) => [
    tokenizer.encodePair(text, choice.of(shortTexts), MAX_TOKENS, choice.of(["left", "right"])),
  ],
  (tokenizer, text, choice) => [
    tokenizer.encodePair(choice.of(shortTexts), text, MAX_TOKENS, choice.of(["left", "right"])),
  ],
  (tokenizer, text) => tokenizer.encodeChunks(text, MAX_TOKENS).map((ids) => ({ ids })),
  (tokenizer, text, choice) =>
    tokenizer
      .encodeWindows(choice.of(shortTexts), text, { maxTokens: MAX_TOKENS, maxQuestionTokens: 24, stride: STRIDE })
      .map((window) => placed(window, text)),
  (tokenizer, text) => {
    const { ids } = tokenizer.encode(text, MAX_TOKENS);
    tokenizer.vocabulary.decode(ids, { skipSpecial: true });
    return [{ ids }];
  },
];

/**
 * Calls a random method with a random text.
 *
 * @throws an error if ids are not in the vocabulary, are too many, or have places outside of the text
 */
export function callTokenizer(tokenizer: Tokenizer, vocabulary: number, choice: SeededChoice): void {
  const text = choice.of(choice.below(LONG_SHARE) === 0 ? longTexts : shortTexts);
  for (const { ids, secondFrom = 0 } of choice.of(methods)(tokenizer, text, choice)) {
    const wrong = Array.from(ids).find((id) => !(id >= 0 && id < vocabulary));
    if (wrong !== undefined || ids.length > MAX_TOKENS) throw new Error(`${ids.length} ids, one of them ${wrong}`);
    if (!(secondFrom >= 0 && secondFrom <= ids.length))
      throw new Error(`The second text of ${ids.length} ids begins at ${secondFrom}.`);
  }
}

/** Checks that tokens are inside of their text. */
function placed<T extends PlacedTokens>(tokens: T, text: string): T {
  const { ids, offsets, words } = tokens;
  if (offsets.length !== 2 * ids.length || words.length !== ids.length)
    throw new Error(`${ids.length} ids have ${offsets.length} offsets and ${words.length} words.`);
  for (let at = 0; at < offsets.length; at += 2) {
    const [start, end] = [offsets[at] as number, offsets[at + 1] as number];
    if (!(start >= 0 && start <= end && end <= text.length))
      throw new Error(`A token is at ${start} to ${end} of ${text.length} characters.`);
  }
  return tokens;
}
