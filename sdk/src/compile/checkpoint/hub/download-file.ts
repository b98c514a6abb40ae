import { constants } from "node:fs";
import { open, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { bodyFrom } from "./body-from.ts";
import { unavailable, wrongAnswer } from "./hub-error.ts";
import { fileSize, type HubFile, hasContent } from "./hub-file.ts";
import { claimPartialFile } from "./partial-file.ts";
import { type RetryOptions, untilAvailable } from "./until-available.ts";

/** Bytes that an attempt must transfer to count as progress. */
const PROGRESS_BYTES = 2 ** 20;

export interface DownloadOptions extends RetryOptions {
  /** Folder for complete and incomplete files. */
  readonly folder: string;
  /** Server of the file, for messages. */
  readonly host: string;
  /** Requests the file's content, from byte `offset` on. */
  readonly request: (offset: number) => Promise<Response>;
  /** Called with the number of bytes that are here. */
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
      // The part that was already here may be damaged.
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
    hint: "The file was damaged on its way, and was removed. Run the command again. If it fails again, look for a proxy that changes files.",
  });
}

/** Continues the file of an earlier download, but follows no link to a file that is not ours. */
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
