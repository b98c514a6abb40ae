import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { type RetryOptions, unavailable, untilAvailable, wrongAnswer } from "./hub-error.ts";
import { fileSize, type HubFile, hasContent } from "./hub-file.ts";

/** Minimum number of bytes that an attempt must transfer to count as progress. */
const PROGRESS_BYTES = 2 ** 20;

interface DownloadOptions extends RetryOptions {
  /** Folder for complete and incomplete files. */
  readonly folder: string;
  /** Server of the file, for messages. */
  readonly host: string;
  /** Requests the file's content, from byte `offset` on. */
  readonly request: (offset: number) => Promise<Response>;
  /** Called with the number of bytes of the file that are on this machine. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Downloads a file to `<folder>/<hash>`. Continues where an interrupted download ended, and checks the content. The file
 * appears under its name when it is complete.
 *
 * @throws BertEdgeError `hub_file_corrupt`, `hub_unavailable`, `hub_answer_invalid`, and the errors of `request`
 */
export async function downloadFile(file: HubFile, options: DownloadOptions): Promise<void> {
  const partial = await claimPartialFile(options.folder, file.hash);
  try {
    const kept = (await fileSize(partial.path)) ?? 0;
    await transfer(file, partial.path, options);
    let intact = await hasContent(partial.path, file);
    if (!intact && kept > 0) {
      // The part from an earlier download may be damaged, so the whole file is downloaded again.
      await truncate(partial.path);
      await transfer(file, partial.path, options);
      intact = await hasContent(partial.path, file);
    }
    if (!intact) throw await corrupt(file, partial.path);
    await rename(partial.path, join(options.folder, file.hash));
  } catch (error) {
    await partial.release();
    throw error;
  }
}

async function corrupt({ path, hash }: HubFile, at: string): Promise<BertEdgeError> {
  await rm(at, { force: true });
  return new BertEdgeError("hub_file_corrupt", `${path} does not match its hash on the Hub, ${hash}.`, {
    hint: "The file was damaged during the download, and was removed. Run the command again. If it fails again, look for a proxy that changes files.",
  });
}

/** Flags that append to the file of an earlier download, and follow no symbolic link to a file of someone else. */
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

/** Appends to the file at `target` until it has the size of the file on the Hub. */
async function transfer({ path, size }: HubFile, target: string, options: DownloadOptions): Promise<void> {
  const { host, request, onBytes } = options;
  let first = 0;
  let count = 0;
  async function attempt(): Promise<void> {
    await using output = await open(target, APPEND);
    count = (await output.stat()).size;
    if (count > size) {
      await output.truncate();
      count = 0;
    }
    first = count;
    onBytes(count);
    if (count === size) return;
    for await (const piece of bodyFrom(await request(count), count, host)) {
      if (count + piece.length > size) throw wrongAnswer(host, `sent more than the ${size} bytes of ${path}`);
      await output.appendFile(piece);
      count += piece.length;
      onBytes(count);
    }
    if (count < size) throw unavailable(host, `ended the transfer of ${path} after ${count} of ${size} bytes`);
  }
  await untilAvailable(attempt, options, () => count - first >= PROGRESS_BYTES);
}

/**
 * Returns the content of a file from byte `offset` on. Servers may answer a request for a part with the whole file:
 * https://httpwg.org/specs/rfc9110.html#field.range
 *
 * @param response the answer to a request for the bytes from `offset` on
 * @throws BertEdgeError `hub_answer_invalid` if the response has another part of the file
 */
async function* bodyFrom(response: Response, offset: number, host: string): AsyncGenerator<Uint8Array> {
  const { status, headers, body } = response;
  if (status === 206 && !headers.get("content-range")?.startsWith(`bytes ${offset}-`)) {
    await body?.cancel();
    throw wrongAnswer(host, `was asked for the bytes from ${offset} on, but sent other bytes`);
  }
  let skip = status === 206 ? 0 : offset;
  for await (const chunk of body ?? []) {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    if (skipped < chunk.length) yield chunk.subarray(skipped);
  }
}

/** Owner of files that nobody is writing. No process has this id. */
const NOBODY = 0;

const nameOf = (hash: string, owner: number): string => `${hash}.${owner}-${randomUUID()}.incomplete`;

/**
 * Returns the path of an incomplete file to continue with: the longest file that an interrupted download of the same content
 * left, or a new path. Removes the other files that interrupted downloads of this content left. The name of the returned file
 * has the id of this process, so processes that download the same content at the same time get different files.
 *
 * @param folder folder of incomplete files
 * @param hash hash of the complete file
 */
export async function claimPartialFile(folder: string, hash: string) {
  const path = join(folder, nameOf(hash, process.pid));
  let size = -1;
  for (const name of await readdir(folder)) {
    const [, owner] = /^[0-9a-f]+\.(\d+)-[\w-]+\.incomplete$/.exec(name) ?? [];
    if (owner === undefined || !name.startsWith(`${hash}.`) || isRunning(Number(owner))) continue;
    const found = join(folder, name);
    const length = (await fileSize(found)) ?? -1;
    if (length > size && (await moved(found, path))) size = length;
    else await rm(found, { force: true });
  }
  return {
    path,
    /** Leaves the file to the next download of the same content. */
    async release(): Promise<void> {
      await moved(path, join(folder, nameOf(hash, NOBODY)));
    },
  };
}

/** Renames a file. Returns false if another process was faster, or if there is no file. */
const moved = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false,
  );

function isRunning(owner: number): boolean {
  if (owner === NOBODY) return false;
  try {
    process.kill(owner, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
