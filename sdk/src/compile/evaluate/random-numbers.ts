/**
 * Returns a function that draws numbers from 0 to 1, without 1: always the same for a seed. It is the linear congruential generator of
 * Numerical Recipes.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
