import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, type StatsBase, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";

/** Flags to open a file. Without O_NONBLOCK, opening a named pipe waits until something writes to it. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

type Kind = Pick<StatsBase<unknown>, "isDirectory" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice">;

/** Kinds of folder entries that are not files, and how to recognize them. Reading a pipe or a device may never end. */
const kinds: readonly (readonly [name: string, is: (found: Kind) => boolean])[] = [
  ["a folder", (found) => found.isDirectory()],
  ["a named pipe", (found) => found.isFIFO()],
  ["a socket", (found) => found.isSocket()],
  ["a device", (found) => found.isCharacterDevice() || found.isBlockDevice()],
];

/** Returns the kind of an entry that is not a file; undefined for files. */
export const otherKind = (found: Kind): string | undefined => kinds.find(([, is]) => is(found))?.[0];

/** Opens a file to read it. @throws Error of Node.js if there is no file; BertEdgeError `not_a_file` */
export async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, READ).catch((error: unknown) => {
    throw opening(path, error);
  });
  try {
    assertKind(path, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a file, uses it and closes it. @throws Error as `openFile` */
export function withFile<T>(path: string, use: (file: number) => T): T {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    throw opening(path, error);
  }
  try {
    assertKind(path, fstatSync(file));
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** Returns the error for a file that could not be opened. The code ENXIO means that the path leads to a socket. */
const opening = (path: string, error: unknown): unknown =>
  (error as NodeJS.ErrnoException).code === "ENXIO" ? noFile(path, "a socket") : error;

const noFile = (path: string, kind: string): BertEdgeError =>
  new BertEdgeError("not_a_file", `${path} is ${kind}, not a file.`, {
    hint: "Put a file in its place, or give the path of a file. Write the output of a pipe to a file first.",
  });

function assertKind(path: string, found: Kind): void {
  const kind = otherKind(found);
  if (kind) throw noFile(path, kind);
}

/**
 * Refuses a path that leads to neither a file nor a folder. Follows links.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export function assertFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const kind = found && !found.isDirectory() && otherKind(found);
  if (!kind) return;
  throw new BertEdgeError("checkpoint_invalid", `${path} is ${kind}, not a file.`, {
    hint: "Remove it from the model folder, or copy the model's files to a folder of their own.",
  });
}

/** Checks that a model folder and its direct subfolders have only files and folders. @throws BertEdgeError `checkpoint_invalid` */
export function assertOnlyFiles(root: string): void {
  const below = entriesOf(root).filter((entry) => entry.isDirectory());
  for (const folder of [root, ...below.map(({ name }) => join(root, name))]) {
    for (const entry of entriesOf(folder)) if (!entry.isFile()) assertFile(join(folder, entry.name));
  }
}

/** Returns the entries of a folder; none if the folder cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
