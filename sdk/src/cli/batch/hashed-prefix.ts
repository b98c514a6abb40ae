import { createHash, type Hash } from "node:crypto";

/** The beginning of a file: its size and its SHA-256. */
export interface HashedPrefix {
  readonly bytes: number;
  readonly sha256: string;
}

/** Hashes a file from its start, while it is read or written. */
export interface PrefixHash {
  update(part: Uint8Array): void;
  /** Bytes that were hashed so far. */
  bytes(): number;
  /** The prefix that was hashed so far. */
  current(): HashedPrefix;
}

export function prefixHash(): PrefixHash {
  const hash: Hash = createHash("sha256");
  let bytes = 0;
  return {
    update(part) {
      hash.update(part);
      bytes += part.length;
    },
    bytes: () => bytes,
    current: () => ({ bytes, sha256: hash.copy().digest("hex") }),
  };
}

export const emptyPrefix: HashedPrefix = prefixHash().current();
