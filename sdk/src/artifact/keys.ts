/** Key of a file, derived from its content. The object never changes, so it may be cached forever. */
export const blobKey = (sha256: string): string => `blobs/sha256/${sha256}`;

/**
 * Key of the pointer to a version of a model. Pointers are the only objects that change.
 *
 * @param version default: the pointer to the current version
 */
export const pointerKey = (name: string, version = "current"): string => `models/${name}/${version}.json`;

/** Key of the pointer to a version that `gc` has removed. The objects of the version stay for an hour. */
export const removedKey = (name: string, version: string): string => `models/${name}/${version}.removed`;

/** A model's version: the first 12 digits of its manifest's SHA-256. */
export const versionOf = (manifestSha256: string): string => manifestSha256.slice(0, 12);

/** Encodes a key as the path of a URL. Slashes stay as they are. */
export const urlPath = (key: string): string => key.split("/").map(encodeURIComponent).join("/");

/** Returns the prefix of all keys in a folder: `team-a/` for `team-a` and for `team-a/`, an empty string for the root. */
export function keyPrefix(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  return trimmed && `${trimmed}/`;
}
