import { fstatSync, readSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";
import { withFile } from "./regular-file.ts";

/** Tensors with at least this many bytes are read or computed again at each use. Smaller tensors stay in memory. */
export const LARGE_BYTES = 1 << 16;

/**
 * Frees a buffer now instead of at the next garbage collection. The given array and all other views of the buffer
 * become unusable.
 */
export function release({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}

/** Makes the errors of a file that cannot be read. */
export interface FileFaults {
  /** The file is damaged. @param fault such as "entry x lies outside the file" */
  readonly invalid: (fault: string, cause?: unknown) => Error;
  /** The file may be sound, but is not supported. @param fault such as "is compressed" */
  readonly unsupported: (fault: string) => Error;
}

/**
 * Bytes that are read or computed at each use. They take no memory between two uses, and each call of `read` returns a
 * new copy.
 */
export interface StoredBytes {
  readonly length: number;
  read(): Uint8Array<ArrayBuffer>;
}

export const bytesOf = (bytes: Uint8Array<ArrayBuffer> | StoredBytes): Uint8Array<ArrayBuffer> =>
  bytes instanceof Uint8Array ? bytes : bytes.read();

/** A file on disk that is read in parts. */
export interface StoredFile {
  readonly length: number;
  /**
   * Reads the bytes from `begin` up to, but not including, `end`.
   *
   * @throws BertEdgeError `file_changed` when the file has changed since it was opened
   */
  subarray(begin: number, end: number): Uint8Array<ArrayBuffer>;
}

/** Maximum bytes per read call, below Node's limit of 2 GiB. */
const MAX_READ = 2 ** 30;

/**
 * Returns a file whose parts can be read as long as the file does not change. Each read opens and closes the file.
 *
 * @throws the file system's error when there is no file; BertEdgeError `not_a_file`
 */
export function storedFile(path: string): StoredFile {
  const known = withFile(path, stateOf);
  const changed = (cause?: unknown) =>
    new BertEdgeError("file_changed", `${path} changed while it was read.`, {
      hint: "Run the command again, and do not change the file while the command runs.",
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
        throw cause instanceof BertEdgeError && cause.code === "file_changed" ? cause : changed(cause);
      }
    },
  };
}

/** Returns a part of a file. A small part is kept in memory, a large part is read at each use. */
export const partOf = (file: StoredFile, begin: number, end: number): Uint8Array<ArrayBuffer> | StoredBytes =>
  end - begin < LARGE_BYTES
    ? file.subarray(begin, end)
    : { length: end - begin, read: () => file.subarray(begin, end) };

function stateOf(file: number) {
  const stats = fstatSync(file, { bigint: true });
  return { size: stats.size, modified: stats.mtimeNs };
}
