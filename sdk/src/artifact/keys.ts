/** The object's key: its content decides it, so it never changes and may be cached for ever. */
export const blobKey = (sha256: string): string => `blobs/sha256/${sha256}`;

/** The mutable pointer to a model's current version. */
export const pointerKey = (name: string): string => `models/${name}/current.json`;

/** A model's version: the first 12 digits of its manifest's SHA-256. */
export const versionOf = (manifestSha256: string): string => manifestSha256.slice(0, 12);

/** A key as the path of a URL: all but its slashes is encoded. */
export const urlPath = (key: string): string => key.split("/").map(encodeURIComponent).join("/");

/** What is put before every key for objects below `path`: `team-a` and `team-a/` are one place, `""` is the top. */
export function keyPrefix(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  return trimmed && `${trimmed}/`;
}
