import { CHUNK_BYTES, type ManifestFile } from "./manifest.ts";
import { sha256Hex } from "./sha256.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the manifest entries of files, by file name. */
export async function describeFiles(files: Iterable<readonly [string, Bytes]>): Promise<Record<string, ManifestFile>> {
  const described = [...files].map(async ([name, bytes]) => [name, await describeFile(bytes)] as const);
  return Object.fromEntries(await Promise.all(described));
}

/** Returns a file's manifest entry. A file of several chunks also gets a hash for each chunk. */
export async function describeFile(bytes: Bytes): Promise<ManifestFile> {
  const file = { sha256: await sha256Hex(bytes), size: bytes.length };
  if (bytes.length <= CHUNK_BYTES) return file;
  const chunks: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    chunks.push(await sha256Hex(bytes.subarray(start, start + CHUNK_BYTES)));
  }
  return { ...file, chunks };
}
