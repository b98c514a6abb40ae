import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { WORDS } from "#test/callers/requests.ts";

/**
 * Length of a request: one word, one text of 3 to 12 words, one text of 200 words, one of these three, or a number of
 * tokens, which `texts` share. Default: as few texts as can hold them.
 */
export type TextLength =
  | "word"
  | "short"
  | "long"
  | "mixed"
  | { readonly tokens: number; readonly texts?: number | undefined };

const LONG_WORDS = 200;
const SHORT_WORDS = { least: 3, most: 12 };
/** Maximum tokens of a text of the default model, of which [CLS] and [SEP] are two. */
const MAX_TOKENS = 256;

const wordsOf = (text: string): string[] => text.split(/\s+/);
/** Sentences of words in Latin letters. Other scripts have many more tokens for each word. */
const latin = calibrationTexts.filter((text) => /^[\x20-\x7e]+$/.test(text));
const short = latin.filter((text) => {
  const { length } = wordsOf(text);
  return length >= SHORT_WORDS.least && length <= SHORT_WORDS.most;
});

/** @param random returns numbers in [0, 1) */
export function drawTexts(length: TextLength, random: () => number): string[] {
  const one = (from: readonly string[]) => from[Math.floor(random() * from.length)] as string;
  if (length === "mixed")
    return drawTexts((["word", "short", "long"] as const)[Math.floor(3 * random())] ?? "long", random);
  if (length === "word") return [one(WORDS)];
  if (length === "short") return [one(short)];
  if (length === "long") return [longText(() => one(latin))];
  const { tokens, texts = Math.ceil(tokens / MAX_TOKENS) } = length;
  return Array.from({ length: texts }, () =>
    Array.from({ length: Math.round(tokens / texts) - 2 }, () => one(WORDS)).join(" "),
  );
}

function longText(next: () => string): string {
  const words: string[] = [];
  while (words.length < LONG_WORDS) words.push(...wordsOf(next()));
  return words.slice(0, LONG_WORDS).join(" ");
}
