/** Half of a pair of UTF-16 units that stand for one code point. */
const SURROGATE = /[\ud800-\udbff]/;

/**
 * Returns a function that turns UTF-16 indices of a text into numbers of code points, which Python and most other languages
 * count.
 */
export function codePointsBefore(text: string): (index: number) => number {
  if (!SURROGATE.test(text)) return (index) => index;
  return (index) => [...text.slice(0, index)].length;
}
