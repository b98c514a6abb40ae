import { randomNumbers } from "../fixtures/seeded.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import { from } from "./parts.ts";

/** Two texts and the maximum number of tokens of both together, special tokens included. */
export type FuzzedPair = readonly [first: string, second: string, maxTokens: number];

const COUNT = 3000;
/** Every template has room for its special tokens in 4 tokens. The longest template is RoBERTa's. */
const MIN_TOKENS = 4;
const MAX_TOKENS = 80;
const UNCUT = 2 ** 20;

/** Returns pairs of fuzzed texts of all kinds, the same in every run. Some texts are empty, some pairs are not cut. */
export function fuzzedPairs(): FuzzedPair[] {
  const texts = fuzzedTexts("suite").map((block) => block.texts);
  const random = randomNumbers(17);
  const text = () => (random() < 0.05 ? "" : from(random, from(random, texts)));
  const maxTokens = () => (random() < 0.1 ? UNCUT : MIN_TOKENS + Math.floor(random() * (MAX_TOKENS + 1 - MIN_TOKENS)));
  return Array.from({ length: COUNT }, () => [text(), text(), maxTokens()] as const);
}
