import { BertEdgeError } from "./error.ts";
import { CHUNK_BYTES, type ManifestFile } from "./manifest.ts";
import { sha256Hex } from "./sha256.ts";

/** Takes the next bytes of a file. They are overwritten once the returned promise is settled. */
export type Deliver = (piece: Uint8Array) => Promise<void>;

/** Where a file's bytes go. */
export interface Destination {
  /** As many as the file has. Asked for again with every piece: WebAssembly memory may grow while they come. */
  bytes(): Uint8Array<ArrayBuffer>;
  /** Told, whenever more have come and are right, how many those are from the first one on. What it throws stops the rest. */
  checked?(count: number): void;
  /** Awaited after every piece: others have their turn. */
  turn?(): Promise<void> | undefined;
}

/** A buffer as a destination. */
export const into = (buffer: Uint8Array<ArrayBuffer>): Destination => ({ bytes: () => buffer });

/**
 * Fills `destination` with a file as it comes. Each chunk is hashed in place while the next one arrives; a wrong one stops the
 * transfer. A file without hashes of chunks is one chunk.
 *
 * @param where names the file in messages
 * @param transfer hands all bytes of the file to its argument, in order; false when there is no such file
 * @throws BertEdgeError `artifact_corrupt` unless the bytes are those that were hashed when the artifact was written,
 *   `buffer_invalid` unless `destination` has the file's size, and what `transfer` throws
 */
export async function fill(
  destination: Destination,
  { size, sha256, chunks }: ManifestFile,
  where: string,
  transfer: (deliver: Deliver) => Promise<boolean>,
): Promise<void> {
  const { length } = destination.bytes();
  if (length !== size) {
    throw new BertEdgeError("buffer_invalid", `${where} has ${size} bytes, and the buffer for it ${length}.`, {
      hint: "Pass exactly as many bytes as the manifest says.",
    });
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
    destination.checked?.(to);
  }

  /** Begins to check what is complete, one chunk at a time. */
  async function checkFilled(): Promise<void> {
    for (; next < hashes.length && start(next + 1) <= filled; next++) {
      await checking;
      checking = check(next);
      // Awaited when the next chunk is complete: until then nobody else listens.
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
  if (!found) throw corrupt(where, "is missing");
  await checkFilled();
  await checking;
  if (filled < size) throw corrupt(where, `has ${filled} bytes instead of ${size}`);
}

const corrupt = (where: string, fault: string) =>
  new BertEdgeError("artifact_corrupt", `${where} ${fault}.`, {
    hint: "The copy is damaged: remove it, then publish or prepare the artifact again (publishing sends only what is not there).",
  });
