// Functions that build random texts. A `Part` draws a piece of text.

export const point = String.fromCodePoint;

export type Random = () => number;
export type Part = (random: Random) => string;

const below = (random: Random, end: number) => Math.floor(random() * end);
export const from = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
export const oneOf =
  (...list: readonly string[]): Part =>
  (random) =>
    from(random, list);
export const within =
  (...ranges: readonly (readonly [number, number])[]): Part =>
  (random) => {
    const [first, last] = from(random, ranges);
    return point(first + below(random, last - first + 1));
  };
/** Draws a part `min` to `max` times and joins the results. */
export const many =
  (part: Part, min: number, max: number): Part =>
  (random) =>
    Array.from({ length: min + below(random, max - min + 1) }, () => part(random)).join("");
export const either =
  (...parts: readonly Part[]): Part =>
  (random) =>
    from(random, parts)(random);
