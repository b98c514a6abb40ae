import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import * as v from "valibot";
import { isAbsent } from "../../../storage/absent.ts";
import { isInnerPath } from "../../../storage/inner-path.ts";
import { openFile } from "../../files/regular-file.ts";
import { integerFrom } from "../config-keys.ts";

/** A file of a model on the Hub. */
export interface HubFile {
  /** Path in the repository, with slashes. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, or for small files the id of the Git blob, which is a SHA-1. In hexadecimal. */
  readonly hash: string;
}

const Size = integerFrom(0, Number.MAX_SAFE_INTEGER);
const Sha1 = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const Path = v.pipe(v.string(), v.check(isInnerPath));

/** A file in a list that the cache keeps. */
export const KeptFile = v.object({ path: Path, size: Size, hash: v.union([Sha1, Sha256]) });

/** Entries of `GET /api/models/<name>/tree/<revision>`. Files in Git LFS have a SHA-256. */
const Entry = v.variant("type", [
  v.object({
    type: v.literal("file"),
    path: Path,
    size: Size,
    oid: Sha1,
    lfs: v.optional(v.object({ oid: Sha256, size: Size })),
  }),
  v.object({ type: v.literal("directory") }),
]);

/** Parses the list of a repository's files. */
export const HubFiles = v.pipe(
  v.array(Entry),
  v.transform((entries) =>
    entries.flatMap((entry): HubFile[] =>
      entry.type === "file"
        ? [{ path: entry.path, size: entry.lfs?.size ?? entry.size, hash: entry.lfs?.oid ?? entry.oid }]
        : [],
    ),
  ),
);

/** Returns the size of a file in bytes; undefined if there is no such file. */
export const fileSize = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    (error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    },
  );

/** Whether a file on this machine has the content of a file on the Hub. */
export async function hasContent(path: string, { size, hash }: HubFile): Promise<boolean> {
  if ((await fileSize(path)) !== size) return false;
  const isSha256 = hash.length === 64;
  const found = createHash(isSha256 ? "sha256" : "sha1");
  // https://git-scm.com/book/en/v2/Git-Internals-Git-Objects: the id of a blob is the hash of a header and the content.
  if (!isSha256) found.update(`blob ${size}\0`);
  for await (const chunk of (await openFile(path)).createReadStream()) found.update(chunk as Buffer);
  return found.digest("hex") === hash;
}
