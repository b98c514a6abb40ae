import { BertEdgeError } from "./error.ts";
import { CHUNK_BYTES, type ManifestFile } from "./manifest.ts";
import { sha256Hex } from "./sha256.ts";

/** Takes the next bytes of a file. After the returned promise has settled, the caller may overwrite these bytes. */
export type Deliver = (piece: Uint8Array) => Promise<void>;

/** The memory that a file is read into. */
export interface Destination {
  /**
   * Returns the memory, which has the size of the file. Called again for every piece, because an earlier view is not
   * valid after WebAssembly memory has grown.
   */
  bytes(): Uint8Array<ArrayBuffer>;
  /**
   * Called after each valid chunk: the first `count` bytes match their hashes, and the first `filled` bytes are there. It may move
   * these bytes, if `bytes` then returns the new place. An error that it throws stops the transfer.
   */
  checked?(count: number, filled: number): void;
  /** Awaited after every piece, so that other work can run. */
  turn?(): Promise<void> | undefined;
}

/** Returns a destination that fills this buffer. */
export const into = (buffer: Uint8Array<ArrayBuffer>): Destination => ({ bytes: () => buffer });

/**
 * Fills `destination` with a file while it is transferred. Each chunk is hashed in place while the next one arrives. A
 * chunk with a wrong hash stops the transfer. A file without chunk hashes is one chunk.
 *
 * @param where names the file in messages
 * @param transfer passes all bytes of the file to its argument, in order; resolves to false when there is no such file
 * @throws BertEdgeError `artifact_corrupt` when the file is missing or does not match its hashes; `buffer_invalid` when
 *   `destination` does not have the file's size. Errors of `transfer` are passed on.
 */
export async function fill(
  destination: Destination,
  { size, sha256, chunks }: ManifestFile,
  where: string,
  transfer: (deliver: Deliver) => Promise<boolean>,
): Promise<void> {
  const { length } = destination.bytes();
  if (length !== size) {
    throw new BertEdgeError(
      "buffer_invalid",
      `${where} has ${size} bytes, but the buffer for the file has ${length}.`,
      {
        hint: "Pass a buffer of exactly the size that the manifest lists.",
      },
    );
  }
  const hashes = chunks ?? [sha256];
  const start = (chunk: number) => (chunks ? Math.min(chunk * CHUNK_BYTES, size) : chunk * size);
  let filled = 0;
  let next = 0;
  let checking = Promise.resolve();

  async function check(chunk: number): Promise<void> {
    const [from, to] = [start(chunk), start(chunk + 1)];
    if ((await sha256Hex(destination.bytes().subarray(from, to))) !== hashes[chunk]) {
      throw corrupt(where, `does not match its SHA-256${chunks ? ` in bytes ${from} to ${to - 1}` : ""}`);
    }
    destination.checked?.(to, filled);
  }

  /** Starts to check the chunks that are complete, one at a time. */
  async function checkFilled(): Promise<void> {
    for (; next < hashes.length && start(next + 1) <= filled; next++) {
      await checking;
      checking = check(next);
      // The error is thrown by the next `await checking`. Until then it must not count as an unhandled rejection.
      checking.catch(() => {});
    }
  }

  const found = await transfer(async (piece) => {
    if (filled + piece.length > size) throw corrupt(where, `has more than ${size} bytes`);
    destination.bytes().set(piece, filled);
    filled += piece.length;
    await checkFilled();
    await destination.turn?.();
  });
  if (!found) {
    throw corrupt(where, "is missing", "Restore the file from a copy, or prepare or publish the artifact again.");
  }
  await checkFilled();
  await checking;
  if (filled < size) throw corrupt(where, `has ${filled} bytes instead of ${size}`);
}

const DAMAGED =
  "In a store, repair it with `bert-edge publish --verify`, which writes damaged objects again. In a folder, prepare the artifact again.";

/** Returns the error for a file that is missing or damaged. */
export const corrupt = (where: string, fault: string, hint = DAMAGED) =>
  new BertEdgeError("artifact_corrupt", `${where} ${fault}.`, { hint });
