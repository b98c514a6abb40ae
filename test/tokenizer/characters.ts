import { either, oneOf, within } from "./parts.ts";

// Groups of characters that tokenizers treat differently, and texts that have a meaning for tokenizers.

export const lower = within([0x61, 0x7a]);
export const space = either(
  oneOf(" ", " ", "  ", "\t", "\n", "\r\n"),
  within([0x2000, 0x200a]),
  oneOf("\u00a0", "\u1680", "\u3000", "\v", "\f", "\x85", "\u2028", "\u2029"),
);
export const punctuation = either(
  within([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]),
  within([0xa1, 0xbf], [0x2010, 0x205e], [0x3001, 0x3020], [0xff01, 0xff0f], [0x2e00, 0x2e5d], [0x1fbd, 0x1fff]),
);
export const symbol = within(
  [0x2070, 0x214f],
  [0x2190, 0x2bff],
  [0xfe00, 0xfe6f],
  [0x1d400, 0x1d7ff],
  [0x1f000, 0x1faff],
);
export const control = within(
  [0, 0x1f],
  [0x7f, 0x9f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfff0, 0xffff],
  [0xe0000, 0xe007f],
);
export const mark = either(
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
export const stayingMark = within(
  [0x8d4, 0x8e1],
  [0x302e, 0x302f],
  [0x1d165, 0x1d172],
  [0x1e000, 0x1e02a],
  [0x1e944, 0x1e94a],
);
export const starterMark = within([0x900, 0x902], [0xe34, 0xe39], [0x1a65, 0x1a6c], [0xfe00, 0xfe0f]);
export const cased = within(
  [0x41, 0x5a],
  [0xc0, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x1e00, 0x1fff],
  [0x10400, 0x1044f],
  [0xff21, 0xff5a],
);
export const scripts = [
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
export const digit = within(
  [0x30, 0x39],
  [0x660, 0x669],
  [0x966, 0x96f],
  [0xff10, 0xff19],
  [0x2150, 0x218b],
  [0x2460, 0x249b],
);
export const special = oneOf(
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
/** Texts of the added tokens in tokenizer variants. */
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
/** Added tokens, and texts that almost match one. */
export const added = oneOf(
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
export const syllable = oneOf(
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
export const emoji = either(
  within([0x1f300, 0x1f6ff], [0x1f900, 0x1f9ff], [0x2600, 0x27bf]),
  oneOf("\u200d", "\ufe0f", "\u20e3", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇨🇭", "👍🏽", "1️⃣", "❤️"),
  within([0x1f3fb, 0x1f3ff], [0x1f1e6, 0x1f1ff]),
);
/** Parts of graphemes, and charsmap keys of one or two characters. */
export const graphemePart = either(
  oneOf("\u1100", "\u1161", "\u11a8", "\uac00", "\uac01", "\u1112\u1161\u11ab"),
  oneOf("\u0915", "\u0958", "\u0916", "\u1780"),
  oneOf("\u094d", "\u094d", "\u17d2", "\u093c", "\u093f", "\u0903", "\u0e33"),
  oneOf("\u200d", "\u200d", "\u200c", "\ufe0f", "\u{1f3fb}", "\u{e0061}", "\u20d0", "\u{1e8d0}"),
  oneOf("\u0300", "\u0301", "\u0302", "\u0323", "\u031b", "\u0308"),
  oneOf("\u0301", "\u0302", "\u0302", "\u0915\u094d\u200c\u0915\u0302", "❤\u0903\u200d❤\u0302"),
  oneOf("\u0600", "\u0605", "\u070f", "\u{110bd}"),
  oneOf("©", "™", "ℹ", "❤", "☀", "🈁", "\u{1f600}", "\u{1f1e8}", "\u{1f1ed}"),
  oneOf("\r", "\n", "\r\n", "\t", " ", "\u200b", "\u00ad", "\0"),
  oneOf("a", "e", "o", "A", "O", "é", "Å", "ß", "ﬁ", "ﬀ", "½", "ǆ", "カ", "ﾞ", "ｶ", "㌔", "ά", "\u1e9b", "\uf900"),
);
