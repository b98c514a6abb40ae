import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";
import { LARGE_BYTES } from "./large-buffers.ts";

/** Bytes that are read or computed each time they are used, for who uses them alone, and take up no room in between. */
export interface StoredBytes {
  readonly length: number;
  read(): Uint8Array<ArrayBuffer>;
}

export const bytesOf = (bytes: Uint8Array<ArrayBuffer> | StoredBytes): Uint8Array<ArrayBuffer> =>
  bytes instanceof Uint8Array ? bytes : bytes.read();

/** A file's bytes, none of which are in memory. */
export interface StoredFile {
  readonly length: number;
  /**
   * Reads the bytes from `begin` to before `end`.
   *
   * @throws BertEdgeError `file_changed` when the file is not what it was
   */
  subarray(begin: number, end: number): Uint8Array<ArrayBuffer>;
}

/** What one read call takes: Node's limit is 2 GiB. */
const MAX_READ = 2 ** 30;

/**
 * A file to be read in parts for as long as nobody changes it. It is opened for each part, so that there is nothing to close.
 *
 * @throws the file system's error when it is not there or no file
 */
export function storedFile(path: string): StoredFile {
  const known = withFile(path, stateOf);
  if (!known.isFile) throw new TypeError(`${path} is not a file`);
  const changed = (cause?: unknown) =>
    new BertEdgeError("file_changed", `${path} was changed while it was read.`, {
      hint: "Leave it as it is until the command has ended, and try again.",
      cause,
    });
  const read = (file: number, begin: number, end: number) => {
    const { size, modified } = stateOf(file);
    if (size !== known.size || modified !== known.modified) throw changed();
    const bytes = new Uint8Array(end - begin);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(file, bytes, done, Math.min(bytes.length - done, MAX_READ), begin + done);
      if (count === 0) throw changed();
      done += count;
    }
    return bytes;
  };
  return {
    length: Number(known.size),
    subarray(begin, end) {
      try {
        return withFile(path, (file) => read(file, begin, end));
      } catch (cause) {
        throw cause instanceof BertEdgeError ? cause : changed(cause);
      }
    },
  };
}

/** A part of a file: in memory if it is small, read each time otherwise. */
export const partOf = (file: StoredFile, begin: number, end: number): Uint8Array<ArrayBuffer> | StoredBytes =>
  end - begin < LARGE_BYTES
    ? file.subarray(begin, end)
    : { length: end - begin, read: () => file.subarray(begin, end) };

function stateOf(file: number) {
  const stats = fstatSync(file, { bigint: true });
  return { size: stats.size, modified: stats.mtimeNs, isFile: stats.isFile() };
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openSync(path, "r");
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}
