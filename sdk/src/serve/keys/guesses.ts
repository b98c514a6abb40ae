import { spendingByCaller } from "./spending-by-caller.ts";

/** Wrong keys of an address per minute that are answered as wrong. */
const LIMIT = { guesses: 30 };

/**
 * Makes a function that counts a wrong key of an address.
 *
 * @returns the milliseconds until another wrong key is counted, if the address has sent too many; undefined otherwise
 */
export function countGuesses(now?: () => number): (address: string | undefined) => number | undefined {
  const guessesOf = spendingByCaller(now);
  return (address) => {
    if (address === undefined) return undefined;
    const guesses = guessesOf(address);
    const over = guesses.over(LIMIT, { guesses: 1 });
    if (!over) guesses.add(LIMIT, { guesses: 1 });
    return over?.waitMs;
  };
}
