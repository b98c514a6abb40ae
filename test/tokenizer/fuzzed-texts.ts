import { calibrationLines } from "../../sdk/src/build/quantize/calibration-lines.ts";
import { probeTexts } from "../../sdk/src/build/verify/probe-texts.ts";
import { randomNumbers } from "../suites/seeded.ts";

/** Texts of one kind, the same every time. */
export interface Block {
  readonly name: string;
  readonly texts: readonly string[];
}

const RANDOM_TEXTS = 4000;
const POINTS_A_TEXT = 64;

const point = String.fromCodePoint;
/** Everything but surrogates, which Rust's strings cannot hold. */
const codePoints = Array.from({ length: 0x110000 }, (_, i) => i).filter((each) => each < 0xd800 || each > 0xdfff);

type Random = () => number;
type Part = (random: Random) => string;

const below = (random: Random, end: number) => Math.floor(random() * end);
const from = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
const oneOf =
  (...list: readonly string[]): Part =>
  (random) =>
    from(random, list);
const within =
  (...ranges: readonly (readonly [number, number])[]): Part =>
  (random) => {
    const [first, last] = from(random, ranges);
    return point(first + below(random, last - first + 1));
  };
/** `least` to `most` of a part, one after the other. */
const many =
  (part: Part, least: number, most: number): Part =>
  (random) =>
    Array.from({ length: least + below(random, most - least + 1) }, () => part(random)).join("");
const either =
  (...parts: readonly Part[]): Part =>
  (random) =>
    from(random, parts)(random);

const lower = within([0x61, 0x7a]);
const space = either(
  oneOf(" ", " ", "  ", "\t", "\n", "\r\n"),
  within([0x2000, 0x200a]),
  oneOf("\u00a0", "\u1680", "\u3000", "\v", "\f", "\x85", "\u2028", "\u2029"),
);
const punctuation = either(
  within([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]),
  within([0xa1, 0xbf], [0x2010, 0x205e], [0x3001, 0x3020], [0xff01, 0xff0f], [0x2e00, 0x2e5d], [0x1fbd, 0x1fff]),
);
const symbol = within([0x2070, 0x214f], [0x2190, 0x2bff], [0xfe00, 0xfe6f], [0x1d400, 0x1d7ff], [0x1f000, 0x1faff]);
const control = within(
  [0, 0x1f],
  [0x7f, 0x9f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfff0, 0xffff],
  [0xe0000, 0xe007f],
);
const mark = either(
  within([0x300, 0x36f]),
  within(
    [0x591, 0x5c7],
    [0x610, 0x61a],
    [0x64b, 0x65f],
    [0x8d3, 0x902],
    [0x93a, 0x94f],
    [0x1ab0, 0x1ace],
    [0x1dc0, 0x1dff],
  ),
  within(
    [0x20d0, 0x20f0],
    [0x302a, 0x302f],
    [0x3099, 0x309a],
    [0xfe00, 0xfe2f],
    [0x1d165, 0x1d182],
    [0x1e000, 0x1e02a],
  ),
);
const stayingMark = within(
  [0x8d4, 0x8e1],
  [0x302e, 0x302f],
  [0x1d165, 0x1d172],
  [0x1e000, 0x1e02a],
  [0x1e944, 0x1e94a],
);
const starterMark = within([0x900, 0x902], [0xe34, 0xe39], [0x1a65, 0x1a6c], [0xfe00, 0xfe0f]);
const cased = within(
  [0x41, 0x5a],
  [0xc0, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x1e00, 0x1fff],
  [0x10400, 0x1044f],
  [0xff21, 0xff5a],
);
const scripts = [
  lower,
  cased,
  within([0x530, 0x58f]),
  within([0x590, 0x5ff]),
  within([0x600, 0x6ff]),
  within([0x900, 0xdff]),
  within([0xe00, 0xfff]),
  within([0x1000, 0x11ff]),
  within([0x3040, 0x30ff]),
  within([0x3400, 0x9fff]),
  within([0xac00, 0xd7a3]),
  within([0xf900, 0xfaff], [0x20000, 0x2fa1f]),
  within([0x10000, 0x12000]),
];
const digit = within(
  [0x30, 0x39],
  [0x660, 0x669],
  [0x966, 0x96f],
  [0xff10, 0xff19],
  [0x2150, 0x218b],
  [0x2460, 0x249b],
);
const special = oneOf(
  "[CLS]",
  "[SEP]",
  "[MASK]",
  "[UNK]",
  "[PAD]",
  "[mask]",
  "[MASK",
  "MASK]",
  "[[MASK]]",
  "##ing",
  "##",
  "[unused1]",
  "<s>",
  "</s>",
  "<mask>",
);
/** What the variants have for added tokens, and what is nearly one. */
export const addedContents = [
  "mill",
  "to be",
  "Ünï",
  "[X]",
  "##ing",
  "中",
  "İ",
  " b",
  "b ",
  "é\u0301",
  "a",
  "a🎉",
  "-x-",
  "ǆ",
];
const added = oneOf(
  ...addedContents,
  "MILL",
  "windmill",
  "to  be",
  "ünï",
  "uni",
  "[x]",
  "i̇",
  "e\u0301\u0301",
  "Ǆ",
  "to b",
  "中中",
  "mi\u0301ll",
);
const syllable = oneOf(
  "ing",
  "un",
  "re",
  "tion",
  "er",
  "est",
  "anti",
  "bio",
  "graph",
  "a",
  "the",
  "qu",
  "zz",
  "ß",
  "œ",
  "é",
  "ﬁ",
  "İ",
  "Σ",
  "ς",
);
const emoji = either(
  within([0x1f300, 0x1f6ff], [0x1f900, 0x1f9ff], [0x2600, 0x27bf]),
  oneOf("\u200d", "\ufe0f", "\u20e3", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇨🇭", "👍🏽", "1️⃣", "❤️"),
  within([0x1f3fb, 0x1f3ff], [0x1f1e6, 0x1f1ff]),
);

const words = (letter: Part): Part =>
  many((random) => many(letter, 1, 8)(random) + either(space, space, punctuation)(random), 1, 10);
const kinds: Record<string, Part> = {
  scripts: (random) => words(from(random, scripts))(random),
  mixed: words(either(...scripts, digit, symbol)),
  syllables: words(syllable),
  marks: words(either(lower, cased, mark, mark, mark)),
  "marks that stay": words(either(lower, lower, stayingMark, stayingMark, stayingMark, mark, starterMark)),
  emoji: words(either(emoji, emoji, lower)),
  punctuation: many(either(punctuation, symbol, digit, lower), 1, 40),
  controls: many(either(control, control, space, lower, mark), 1, 40),
  specials: many(either(special, special, space, lower, punctuation, mark, syllable), 1, 20),
  "added tokens": many(either(added, added, added, space, lower, punctuation), 1, 20),
  "long words": (random) => words(many(either(lower, syllable, mark), 80, 120))(random),
  "any code point": many((random) => point(from(random, codePoints)), 1, 40),
};

/** Tens of thousands of texts, among them every code point twice. */
export function fuzzedTexts(): Block[] {
  const perText = Array.from({ length: Math.ceil(codePoints.length / POINTS_A_TEXT) }, (_, i) =>
    codePoints.slice(i * POINTS_A_TEXT, (i + 1) * POINTS_A_TEXT).map((each) => point(each)),
  );
  return [
    { name: "every code point", texts: perText.map((characters) => characters.join("")) },
    { name: "every code point in a word", texts: perText.map((characters) => characters.join("a b")) },
    { name: "sentences", texts: [...probeTexts, ...calibrationLines] },
    ...Object.entries(kinds).map(([name, text], seed) => {
      const random = randomNumbers(seed);
      return { name, texts: Array.from({ length: RANDOM_TEXTS }, () => text(random)) };
    }),
  ];
}
