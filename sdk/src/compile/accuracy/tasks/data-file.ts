import { BertEdgeError } from "../../../artifact/error.ts";
import { readWhole } from "../../files/regular-file.ts";

/** A line of a data file. */
export interface Line {
  readonly text: string;
  /** Position for messages, such as "line 3 of pairs.tsv". */
  readonly place: string;
}

/** Splits a data file's text into lines, except empty ones. */
export const linesOf = (text: string, source: string): Line[] =>
  text
    .split(/\r?\n/)
    .map((line, i) => ({ text: line, place: `line ${i + 1} of ${source}` }))
    .filter((line) => line.text !== "");

/** Returns the error for a line with the wrong format. */
export const unexpected = ({ place }: Line, expected: string, hint: string): BertEdgeError =>
  new BertEdgeError("data_invalid", `Expected ${expected} at ${place}.`, { hint });

/**
 * Reads and parses a data file.
 *
 * @throws BertEdgeError `data_missing`; `data_invalid` for files that are not UTF-8 text or have no entries; the errors of
 *   `parse`
 */
export async function readData<T>(
  path: string,
  hint: string,
  parse: (text: string, source: string) => readonly T[],
): Promise<readonly T[]> {
  const bytes = await readWhole(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") throw new BertEdgeError("data_missing", `${path} does not exist.`, { hint, cause });
    throw new BertEdgeError("data_invalid", `${path} cannot be read.`, { hint, cause });
  });
  const entries = parse(decode(bytes, path, hint), path);
  if (entries.length === 0) throw new BertEdgeError("data_invalid", `${path} has no entries.`, { hint });
  return entries;
}

function decode(bytes: Uint8Array, path: string, hint: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new BertEdgeError("data_invalid", `${path} is not UTF-8 text.`, { hint, cause });
  }
}
