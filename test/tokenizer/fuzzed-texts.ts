import { variedTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import {
  added,
  cased,
  control,
  digit,
  emoji,
  graphemePart,
  lower,
  mark,
  punctuation,
  scripts,
  space,
  special,
  starterMark,
  stayingMark,
  syllable,
  symbol,
} from "./characters.ts";
import { either, from, many, oneOf, type Part, point } from "./parts.ts";

/** Texts of one kind, the same in every run. */
export interface Block {
  readonly name: string;
  readonly texts: readonly string[];
}

/**
 * Number of texts per kind. `sampling` is for planes where all code points are alike: if it is 127, every 127th code
 * point is used. `suite` runs with the other tests, `all` with `npm run test:cases`.
 */
const counts = {
  suite: { random: 1000, longWords: 100, sampling: 127 },
  // Few texts have long words, because comparing these texts takes as long as comparing all other random texts.
  all: { random: 4000, longWords: 500, sampling: 1 },
} as const;
export type TextSet = keyof typeof counts;

const POINTS_PER_TEXT = 64;

/** All code points except surrogates, which Rust strings cannot hold. */
const codePoints = Array.from({ length: 0x110000 }, (_, i) => i).filter((each) => each < 0xd800 || each > 0xdfff);
/** Whether a code point is in a plane where all code points are alike: unassigned (4 to 13) or private (15 and 16). */
const isInUniformPlane = (each: number) => (each >= 0x40000 && each < 0xe0000) || each >= 0xf0000;

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
  graphemes: many(graphemePart, 1, 40),
  "one letter or two": words((random) =>
    many(from(random, [lower, oneOf("a"), oneOf("a", "b"), oneOf("z")]), 1, 12)(random),
  ),
  "any code point": many((random) => point(from(random, codePoints)), 1, 40),
};

/**
 * Returns texts of every kind. In `all`, every code point occurs at least twice. `suite` leaves out most code points of
 * the planes where all code points are alike.
 */
export function fuzzedTexts(set: TextSet): readonly Block[] {
  const blocks = known.get(set) ?? drawTexts(set);
  known.set(set, blocks);
  return blocks;
}

const known = new Map<TextSet, readonly Block[]>();

function drawTexts(set: TextSet): readonly Block[] {
  const { random: randomTexts, longWords, sampling } = counts[set];
  const points = codePoints.filter((each) => !isInUniformPlane(each) || each % sampling === 0);
  const perText = Array.from({ length: Math.ceil(points.length / POINTS_PER_TEXT) }, (_, i) =>
    points.slice(i * POINTS_PER_TEXT, (i + 1) * POINTS_PER_TEXT).map((each) => point(each)),
  );
  return [
    { name: "every code point", texts: perText.map((characters) => characters.join("")) },
    { name: "every code point in a word", texts: perText.map((characters) => characters.join("a b")) },
    { name: "sentences", texts: [...variedTexts, ...calibrationTexts] },
    ...Object.entries(kinds).map(([name, text], seed) => {
      const random = randomNumbers(seed);
      const length = name === "long words" ? longWords : randomTexts;
      return { name, texts: Array.from({ length }, () => text(random)) };
    }),
  ];
}
