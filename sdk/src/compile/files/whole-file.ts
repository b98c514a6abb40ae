import { fstatSync, readSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { openFile, withFile } from "./regular-file.ts";

/** Maximum bytes of files with settings or keys, which people write, and of reports of tools. */
export const MAX_SETTINGS_BYTES = 1024 * 1024;
/** Maximum bytes of a JSON file of a model folder. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of a tokenizer.json. With a vocabulary of 262,000 tokens, the file has 34 MB. */
export const MAX_TOKENIZER_BYTES = 256 * 1024 * 1024;
/** Maximum bytes of texts for measurements, of kept results and of bundles. V8's longest string has 24 characters less. */
export const MAX_DATA_BYTES = 512 * 1024 * 1024;

const PIECE_BYTES = 256 * 1024;

/**
 * Reads a whole file.
 *
 * @throws BertEdgeError `file_too_large`, before it is read if the system knows its size; errors of `openFile` and of Node.js
 */
export async function wholeFile(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await openFile(path);
  const pieces = piecesUpTo(maxBytes, path, (await file.stat()).size);
  for (let piece = pieces.next(); ; piece = pieces.next()) {
    const { bytesRead } = await file.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return pieces.joined();
    pieces.add(piece.subarray(0, bytesRead));
  }
}

/** Reads a whole text file, as `wholeFile` does. */
export const wholeText = async (path: string, maxBytes: number): Promise<string> =>
  (await wholeFile(path, maxBytes)).toString("utf8");

/** Reads a whole text file synchronously, otherwise as `wholeText` does. */
export const wholeTextSync = (path: string, maxBytes: number): string =>
  withFile(path, (file) => {
    const pieces = piecesUpTo(maxBytes, path, fstatSync(file).size);
    for (let piece = pieces.next(); ; piece = pieces.next()) {
      const bytesRead = readSync(file, piece);
      if (bytesRead === 0) return pieces.joined().toString("utf8");
      pieces.add(piece.subarray(0, bytesRead));
    }
  });

/**
 * Reads a file with settings or keys that the user has named.
 *
 * @param what names the file in the message
 * @throws BertEdgeError `code` if it cannot be read; `file_too_large`, `not_a_file`
 */
export function namedText(path: string, code: ErrorCode, what: string, hint: string): string {
  try {
    return wholeTextSync(path, MAX_SETTINGS_BYTES);
  } catch (cause) {
    if (cause instanceof BertEdgeError) throw cause;
    throw new BertEdgeError(code, `${what} cannot be read.`, { hint, cause });
  }
}

/** Collects the pieces of a file. Counts the bytes that arrive, because files can grow, and files in /proc have a size of 0. */
function piecesUpTo(maxBytes: number, path: string, size: number) {
  if (size > maxBytes) throw tooLarge(path, `${size} bytes`, maxBytes);
  const pieces: Buffer[] = [];
  let bytes = 0;
  return {
    /** Returns memory for the next piece. The first piece has room for at least one byte more than the size of the file. */
    next: () => Buffer.allocUnsafe(bytes === 0 ? Math.max(size + 1, PIECE_BYTES) : PIECE_BYTES),
    add(piece: Buffer): void {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(path, `more than ${maxBytes} bytes`, maxBytes);
      pieces.push(piece);
    },
    joined: () => (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, bytes)),
  };
}

/** @param path path of the file, or `stdin` */
export const tooLarge = (path: string, size: string, maxBytes: number): BertEdgeError =>
  new BertEdgeError("file_too_large", `${path} has ${size}, but only up to ${maxBytes} bytes of it are read.`, {
    hint: "Give a smaller file: a file of this size is damaged, or not the file that was meant.",
  });
