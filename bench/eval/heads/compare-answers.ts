import type { ExpectedAnswer, HeadAnswer } from "./head-answer.ts";

/**
 * Largest difference of a score in float32. Both sides add the same numbers in another order. Measured: at most 6.8e-6, for the
 * scores of token labels.
 */
export const FLOAT32_ROUNDING = 5e-5;

export interface Float32Agreement {
  readonly texts: number;
  /** Texts with the same answer. */
  readonly equal: number;
  readonly largestDifference: number;
  /** Index of the first text with another answer; -1 if there is none. */
  readonly firstOther: number;
}

/** Counts the texts whose answers have the same words and places, and numbers within `FLOAT32_ROUNDING`. */
export function float32Agreement(expected: readonly ExpectedAnswer[], found: readonly HeadAnswer[]): Float32Agreement {
  const differences = expected.map(({ numbers }, i) => largestDifference(numbers, found[i]?.numbers ?? []));
  const isEqual = expected.map((answer, i) => {
    const other = found[i];
    const picks = answer.choices.map(({ pick }) => pick);
    const isSame = answer.text === other?.text && `${picks}` === `${other.choices.map(({ pick }) => pick)}`;
    return isSame && (differences[i] as number) <= FLOAT32_ROUNDING;
  });
  return {
    texts: expected.length,
    equal: isEqual.filter(Boolean).length,
    largestDifference: differences.reduce((max, difference) => Math.max(max, difference), 0),
    firstOther: isEqual.indexOf(false),
  };
}

/** Returns infinity for lists of different lengths. */
const largestDifference = (expected: readonly number[], found: readonly number[]): number =>
  expected.length === found.length
    ? expected.reduce((max, value, i) => Math.max(max, Math.abs(value - (found[i] as number))), 0)
    : Number.POSITIVE_INFINITY;

export interface EdgeAgreement {
  readonly choices: number;
  /** Choices whose margin exceeds the noise, and how many of them are the same. */
  readonly beyondNoise: number;
  readonly equal: number;
  /** Equal choices of all, whatever their margin. */
  readonly equalOfAll: number;
}

/**
 * Compares each choice with that of float32.
 *
 * @param noise how far rounding moves a logit, at most
 */
export function edgeAgreement(
  expected: readonly ExpectedAnswer[],
  found: readonly HeadAnswer[],
  noise: number,
): EdgeAgreement {
  const choices = expected.flatMap((answer, i) =>
    answer.choices.map(({ pick, margin }, j) => ({
      isEqual: pick === found[i]?.choices[j]?.pick,
      isBeyond: margin > noise,
    })),
  );
  const beyond = choices.filter(({ isBeyond }) => isBeyond);
  return {
    choices: choices.length,
    beyondNoise: beyond.length,
    equal: beyond.filter(({ isEqual }) => isEqual).length,
    equalOfAll: choices.filter(({ isEqual }) => isEqual).length,
  };
}
