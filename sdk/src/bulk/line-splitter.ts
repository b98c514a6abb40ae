/** Maximum bytes of a line that is read: a text of a megabyte has far more tokens than any model takes. */
export const MAX_LINE_BYTES = 1_000_000;

/** A line of a JSONL file. */
export interface InputLine {
  /** Number of the line in its file, from 1. */
  readonly number: number;
  /** The line without its line feed; undefined if it is longer than `MAX_LINE_BYTES`. */
  readonly bytes: Uint8Array | undefined;
  /** Bytes of the line in its file, including its line feed. */
  readonly size: number;
}

const LINE_FEED = 10;

/**
 * Splits the bytes of a file, which arrive in pieces, into lines. Keeps at most one unfinished line in memory.
 *
 * @param firstLine number of the first line
 */
export function lineSplitter(firstLine = 1, maxBytes = MAX_LINE_BYTES) {
  let number = firstLine;
  let begun: Uint8Array[] = [];
  /** Bytes of the unfinished line, including those that were dropped because the line is too long. */
  let size = 0;

  function add(part: Uint8Array): void {
    size += part.length;
    if (size > maxBytes) begun = [];
    else begun.push(part);
  }

  function finish(lineFeed: 0 | 1): InputLine {
    const line = { number: number++, bytes: size > maxBytes ? undefined : joined(begun), size: size + lineFeed };
    begun = [];
    size = 0;
    return line;
  }

  return {
    /** Returns the lines that end in this piece. The lines may share the piece's memory. */
    push(piece: Uint8Array): InputLine[] {
      const lines: InputLine[] = [];
      let start = 0;
      for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
        add(piece.subarray(start, end));
        lines.push(finish(1));
        start = end + 1;
      }
      if (start < piece.length) add(piece.subarray(start));
      return lines;
    },
    /** Returns the last line, if it has no line feed. */
    end: (): InputLine[] => (size > 0 ? [finish(0)] : []),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  if (others.length === 0) return first ?? new Uint8Array();
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
