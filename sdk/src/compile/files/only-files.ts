import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { otherKind } from "./regular-file.ts";

/**
 * Refuses what is neither a file nor a folder, also behind a link.
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

/** Checks what is in a model folder, and in the folders in it. @throws BertEdgeError `checkpoint_invalid` */
export function assertOnlyFiles(root: string): void {
  const below = entriesOf(root).filter((entry) => entry.isDirectory());
  for (const folder of [root, ...below.map(({ name }) => join(root, name))]) {
    for (const entry of entriesOf(folder)) if (!entry.isFile()) assertFile(join(folder, entry.name));
  }
}

/** Returns what is in a folder; nothing if it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
