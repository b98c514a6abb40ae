import { byteCharacters } from "#sdk/compile/pack/tokenizer/byte-level/merge-table.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { allKinds } from "./added-kinds.ts";
import { from } from "./parts.ts";
import { robertaSpecials } from "./roberta-specials.ts";

const ROUNDS = 25;
const MERGES_A_ROUND = 30;
const OTHER_MERGES = 300;

const specials = robertaSpecials((content) => content !== "<mask>");

const asBytes = (word: string) => Array.from(new TextEncoder().encode(word), (byte) => byteCharacters[byte] as string);

/**
 * Learns merges of the most frequent pairs in the calibration texts. Then adds random merges: they join other pairs,
 * but the results are tokens that the vocabulary already has.
 */
function train(): { vocab: Record<string, number>; merges: string[] } {
  let words = calibrationTexts.flatMap((line) => line.match(/ ?\S+/g) ?? []).map(asBytes);
  const merges: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const counts = new Map<string, number>();
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        const pair = `${word[i - 1]} ${word[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MERGES_A_ROUND);
    merges.push(...frequent.map(([pair]) => pair));
    const chosen = new Set(merges);
    words = words.map((word) => {
      const tokens: string[] = [];
      for (const token of word) {
        const last = tokens.at(-1);
        if (chosen.has(`${last} ${token}`)) tokens[tokens.length - 1] = last + token;
        else tokens.push(token);
      }
      return tokens;
    });
  }
  const tokens = [...new Set([...byteCharacters, ...merges.map((pair) => pair.replace(" ", ""))])];
  const vocab = Object.fromEntries(
    [...specials.map(({ content }) => content), ...tokens].map((token, id) => [token, id]),
  );
  const random = randomNumbers(1);
  for (let i = 0; i < OTHER_MERGES; ) {
    const token = from(random, tokens);
    const cut = 1 + Math.floor(random() * (token.length - 1));
    const [left, right] = [token.slice(0, cut), token.slice(cut)];
    if (!(left in vocab && right in vocab)) continue;
    merges.splice(Math.floor(random() * merges.length), 0, `${left} ${right}`);
    i++;
  }
  return { vocab, merges };
}

const trained = train();

const roberta = () => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: specials as object[],
  normalizer: null as object | null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true } as object,
  post_processor: {
    type: "RobertaProcessing",
    sep: ["</s>", 2],
    cls: ["<s>", 0],
    trim_offsets: true,
    add_prefix_space: false,
  } as object | null,
  decoder: null,
  model: {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: "",
    end_of_word_suffix: "",
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: trained.vocab,
    merges: trained.merges as (string | string[])[],
  },
});

const LETTERS_AND_NUMBERS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}`;
const OTHERS = String.raw`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
const split = (regex: string, how: object = { behavior: "Isolated", invert: false }) => ({
  type: "Split",
  pattern: { Regex: regex },
  ...how,
});
const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const sequence = (...pretokenizers: object[]) => ({ type: "Sequence", pretokenizers });
/** Tokens that no merges give. */
const whole = Object.fromEntries(
  ["Ġquestions", "Ġthat", "zzz", "Ã©", "123", "!!", "Ċ", "ĠĠ"].map((token, i) => [token, 60_000 + i]),
);

/** Byte-level tokenizers by name. Each covers different settings. */
export const byteLevelVariants: Record<string, () => ReturnType<typeof roberta>> = {
  "byte-level": roberta,
  "byte-level, composed, a space before, nothing around, added tokens": () => {
    const json = roberta();
    return {
      ...json,
      normalizer: { type: "NFC" },
      pre_tokenizer: { ...json.pre_tokenizer, add_prefix_space: true },
      post_processor: null,
      added_tokens: [...json.added_tokens, ...allKinds],
      model: { ...json.model, merges: trained.merges.map((pair) => pair.split(" ")) },
    };
  },
  "byte-level, Llama 3's words, tokens that are no merges": () => {
    const json = roberta();
    return {
      ...json,
      pre_tokenizer: sequence(split(`${CONTRACTIONS}${LETTERS_AND_NUMBERS}{1,3}${OTHERS}`), bytes),
      model: { ...json.model, ignore_merges: true, vocab: { ...trained.vocab, ...whole } },
    };
  },
  "byte-level, Qwen's words, composed, added tokens": () => {
    const json = roberta();
    return {
      ...json,
      normalizer: { type: "NFC" },
      pre_tokenizer: sequence(split(LETTERS_AND_NUMBERS + OTHERS, { behavior: "Removed", invert: true }), bytes),
      added_tokens: [...json.added_tokens, ...allKinds],
    };
  },
  "byte-level in words, single digits, a space before each": () => ({
    ...roberta(),
    pre_tokenizer: sequence(
      { type: "Whitespace" },
      { type: "Digits", individual_digits: true },
      { ...bytes, add_prefix_space: true, use_regex: true },
    ),
  }),
  "byte-level, numbers and punctuation apart": () => ({
    ...roberta(),
    pre_tokenizer: sequence(
      { type: "Digits", individual_digits: false },
      { type: "Punctuation", behavior: "Contiguous" },
      { ...bytes, use_regex: true },
    ),
  }),
};
