import { randomNumbers } from "../../fixtures/seeded.ts";

const DENORMAL = 2 ** -149;
const MAX_FLOAT = 3.4e38;
const EXTREMES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, MAX_FLOAT, -MAX_FLOAT, -0, 1];

type Random = () => number;

/** Makes a generator for the numbers of one row. */
type Kind = (random: Random) => Random;

const kinds: readonly Kind[] = [
  (random) => () => 8 * random() - 4,
  // Multiples of 0.5. Many of them lie exactly between two integers.
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

const upTo = (max: number): Kind[] => [
  (random) => () => max * (2 * random() - 1),
  (random) => () => (random() < 0.1 ? max * (2 * random() - 1) : 2 * random() - 1),
];

const extremes: Kind = (random) => () => oneOf(EXTREMES, random);

const oneOf = <T>(items: readonly T[], random: Random): T => items[Math.floor(items.length * random())] as T;

/** Draws random operands for kernels. */
export interface Drawing {
  /**
   * Draws a matrix [rows, width]. The numbers of a row are of one kind, such as zeros or tiny numbers. `max` is the
   * maximum magnitude. Without `max`, some numbers are not finite.
   */
  floats(rows: number, width: number, max?: number): Float32Array<ArrayBuffer>;
  /**
   * Draws integers from `min` to `max` (inclusive). Each call draws in one of four ways: only `min`, only `max`, a
   * mix of `min` and `max`, or any integers of the range.
   */
  integers(length: number, min: number, max: number): number[];
}

/** Draws operands. The same seed draws the same operands. */
export function drawing(seed: number): Drawing {
  const random = randomNumbers(seed);
  return {
    floats(rows, width, max) {
      const all = max === undefined ? [...kinds, ...upTo(MAX_FLOAT), extremes] : [...kinds, ...upTo(max)];
      return Float32Array.from(
        Array.from({ length: rows }, () => oneOf(all, random)(random)).flatMap((draw) =>
          Array.from({ length: width }, draw),
        ),
      );
    },
    integers(length, min, max) {
      const between = () => min + Math.floor((max - min + 1) * random());
      const draws = [() => min, () => max, () => (random() < 0.5 ? min : max), between];
      return Array.from({ length }, oneOf(draws, random));
    },
  };
}

/** Draws operands without extreme values, similar to the operands in real models. */
export function commonDrawing(seed: number): Drawing {
  const random = randomNumbers(seed);
  return {
    floats: (rows, width) => Float32Array.from({ length: rows * width }, () => 8 * random() - 4),
    integers: (length, min, max) => Array.from({ length }, () => min + Math.floor((max - min + 1) * random())),
  };
}
