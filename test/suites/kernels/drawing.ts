import { randomNumbers } from "../../fixtures/seeded.ts";

const DENORMAL = 2 ** -149;
const GREATEST = 3.4e38;
const EXTREMES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, GREATEST, -GREATEST, -0, 1];

type Random = () => number;

/** Makes the numbers of one row. */
type Kind = (random: Random) => Random;

const kinds: readonly Kind[] = [
  (random) => () => 8 * random() - 4,
  // Half of them are midway between two integers.
  (random) => () => Math.round(48 * random() - 24) / 2,
  (random) => () => 2 ** Math.round(120 * random() - 60) * (random() - 0.5),
  (random) => () => DENORMAL * Math.round(200 * random() - 100),
  (random) => () => (random() < 0.5 ? 0 : -0),
  () => () => 0,
  (random) => {
    const one = 8 * random() - 4;
    return () => one;
  },
];

const upTo = (greatest: number): Kind[] => [
  (random) => () => greatest * (2 * random() - 1),
  (random) => () => (random() < 0.1 ? greatest * (2 * random() - 1) : 2 * random() - 1),
];

const extremes: Kind = (random) => () => oneOf(EXTREMES, random);

const oneOf = <T>(items: readonly T[], random: Random): T => items[Math.floor(items.length * random())] as T;

/** Draws operands. */
export interface Drawing {
  /** Draws [rows, width], each row of another kind, up to `greatest` in magnitude. Without it some are not finite. */
  floats(rows: number, width: number, greatest?: number): Float32Array<ArrayBuffer>;
  /** Draws integers, both bounds included: all equal to one bound, each equal to a bound, or any. */
  integers(length: number, least: number, greatest: number): number[];
}

/** The same seed draws the same operands. */
export function drawing(seed: number): Drawing {
  const random = randomNumbers(seed);
  return {
    floats(rows, width, greatest) {
      const all = greatest === undefined ? [...kinds, ...upTo(GREATEST), extremes] : [...kinds, ...upTo(greatest)];
      return Float32Array.from(
        Array.from({ length: rows }, () => oneOf(all, random)(random)).flatMap((draw) =>
          Array.from({ length: width }, draw),
        ),
      );
    },
    integers(length, least, greatest) {
      const between = () => least + Math.floor((greatest - least + 1) * random());
      const draws = [() => least, () => greatest, () => (random() < 0.5 ? least : greatest), between];
      return Array.from({ length }, oneOf(draws, random));
    },
  };
}

/** Draws operands without extremes, like those of models. */
export function commonDrawing(seed: number): Drawing {
  const random = randomNumbers(seed);
  return {
    floats: (rows, width) => Float32Array.from({ length: rows * width }, () => 8 * random() - 4),
    integers: (length, least, greatest) =>
      Array.from({ length }, () => least + Math.floor((greatest - least + 1) * random())),
  };
}
