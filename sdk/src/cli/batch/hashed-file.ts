import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { jobChanged, writing } from "./job-files.ts";

/** The beginning of a file: its size and its SHA-256. */
export interface HashedPrefix {
  readonly bytes: number;
  readonly sha256: string;
}

/** Hashes a file from its start, while it is read or written. */
export function prefixHash() {
  const hash: Hash = createHash("sha256");
  let bytes = 0;
  return {
    update(part: Uint8Array): void {
      hash.update(part);
      bytes += part.length;
    },
    /** Returns the number of bytes that were hashed so far. */
    bytes: (): number => bytes,
    current: (): HashedPrefix => ({ bytes, sha256: hash.copy().digest("hex") }),
  };
}

export const emptyPrefix: HashedPrefix = prefixHash().current();

const PIECE_BYTES = 1 << 20;

/** Flags to open a file of a job. O_NOFOLLOW refuses a link at the file's name, because a job never makes links. */
const WRITE = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens a file to continue after a prefix of it, and hashes its content. Makes the file if there is none.
 *
 * New content overwrites the bytes after the prefix. Opening does not cut the file, only `cut` does: if another process runs the same
 * job, its next write would otherwise leave a hole in the file.
 *
 * @throws BertEdgeError `job_changed` when the file does not begin with this prefix; `out_unwritable`
 */
export async function openHashedFile(path: string, prefix: HashedPrefix) {
  const file = await writing(path, open(path, WRITE));
  const hash = prefixHash();
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let at = 0; at < prefix.bytes; at = hash.bytes()) {
      const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, prefix.bytes - at), at);
      if (bytesRead === 0) throw jobChanged(`${path} is shorter than it was: ${at} of ${prefix.bytes} bytes are left.`);
      hash.update(piece.subarray(0, bytesRead));
    }
    if (hash.current().sha256 !== prefix.sha256) throw jobChanged(`${path} was changed after it was written.`);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    async append(text: string): Promise<void> {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await writing(path, file.write(bytes, at, bytes.length - at, hash.bytes() + at));
        at += bytesWritten;
      }
      hash.update(bytes);
    },
    /** Waits until the content is on disk, and describes it. */
    async sync(): Promise<HashedPrefix> {
      await writing(path, file.datasync());
      return hash.current();
    },
    /** Cuts off what follows the content: bytes that an earlier run wrote before it was killed. */
    cut: () => writing(path, file.truncate(hash.bytes())),
    [Symbol.asyncDispose]: () => file.close(),
  };
}
