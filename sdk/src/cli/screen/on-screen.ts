import { printable } from "../../artifact/printable.ts";

/** Columns of a small terminal. Reports are laid out for them, also in a log. */
export const COLUMNS = 80;

/** Terminals that are narrower break lines themselves. */
const MIN_COLUMNS = 40;

/** The properties of a stream that say how wide its lines can be. */
type Screen = Pick<NodeJS.WriteStream, "isTTY" | "columns">;

/**
 * Returns the text that a stream gets: with visible control characters, and on a terminal without lines that are wider. Logs and other
 * programs get whole lines.
 *
 * @param indent spaces before each line
 */
export function onScreen(text: string, { isTTY, columns }: Screen, indent = ""): string {
  const shown = printable(text);
  const lines = isTTY ? fitted(shown, Math.max(columns || COLUMNS, MIN_COLUMNS) - indent.length) : shown;
  return lines.replace(/^(?=.)/gm, indent);
}

/** A line with an indent or with columns: a command, or a row of a table. */
const LAID_OUT = /^\s|\s{2}/;

/** Breaks the lines of a text that are wider than a terminal, except commands and tables. */
const fitted = (text: string, columns: number): string =>
  text
    .split("\n")
    .flatMap((line) => (line.length <= columns || LAID_OUT.test(line) ? [line] : wrapped(line, columns)))
    .join("\n");

/** A word, or a command in backticks. */
const WHOLE = /(?:`[^`]*`|\S)+/g;

/** Spaces before the lines after the first one. */
const INDENT = "  ";

/**
 * Breaks a text into lines at spaces. Shortens text after `maxLines` lines with "…". What users copy stays whole, also if it is wider
 * than a line: URLs, paths and commands in backticks.
 */
export function wrapped(text: string, columns: number, maxLines = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const [at, word] of (text.match(WHOLE) ?? []).entries()) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else if (lines.length < maxLines) {
      lines.push(at === 0 ? word : `${INDENT}${word}`);
    } else {
      lines[lines.length - 1] = cut(`${line} …`, columns);
      break;
    }
  }
  return lines;
}

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
