/** Turns numbers of code points of a text, which the service counts, into UTF-16 indices, which `slice` takes. */
function utf16Positions(text: string): (codePoints: number) => number {
  const starts = [0];
  for (const character of text) starts.push((starts.at(-1) as number) + character.length);
  return (codePoints) => starts[codePoints] as number;
}

/** Changes the places of parts of a text to UTF-16 indices. */
export function inUtf16<Part extends { start: number; end: number }>(text: string, parts: readonly Part[]): Part[] {
  const position = utf16Positions(text);
  return parts.map((part) => ({ ...part, start: position(part.start), end: position(part.end) }));
}
