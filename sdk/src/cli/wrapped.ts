/**
 * Breaks a text into lines at spaces. Words longer than a line, and what is left after `maxLines` lines, are cut with "…".
 * Lines after the first are indented.
 */
export function wrapped(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = [];
  const words = text.split(/\s+/);
  for (const [at, word] of words.entries()) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else if (lines.length < maxLines) {
      lines.push(cut(at === 0 ? word : `${INDENT}${word}`, columns));
    } else {
      lines[lines.length - 1] = cut(`${line} …`, columns);
      break;
    }
  }
  return lines;
}

const INDENT = "  ";

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
