import { addOrigin, codePointsOf, type Origins } from "../token-places.ts";

/**
 * Finds the origins of a text in NFC. Each of its characters decomposes into some characters, and the text before
 * composition decomposes into the same ones: a character comes from the part with the first of them.
 */
export function composedOrigins(text: string, composed: string): Origins {
  const parts = [...codePointsOf(text)].flatMap((part) => {
    const decomposed = [...text.slice(...part).normalize("NFD")];
    return decomposed.map(() => part);
  });
  const origins: Origins = [];
  let done = 0;
  for (const character of composed) {
    const [start, end] = parts[done] ?? parts.at(-1) ?? [0, 0];
    addOrigin(origins, start, end, character.length);
    done += [...character.normalize("NFD")].length;
  }
  return origins;
}
