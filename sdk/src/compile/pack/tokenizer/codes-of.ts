/** Characters of texts, numbered from 1 on. */
export function codesOf(texts: readonly string[]): Map<string, number> {
  const characters = new Set(texts.flatMap((text) => Array.from(text)));
  return new Map([...characters].sort().map((character, i) => [character, i + 1]));
}
