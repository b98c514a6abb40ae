/**
 * Replaces the only match of a pattern.
 *
 * @throws Error if the pattern has no match, or more than one
 */
export function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  const matches = [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].length;
  if (matches !== 1) throw new Error(`${pattern} matches ${matches} times instead of once in:\n${text}`);
  return text.replace(pattern, () => replacement);
}
