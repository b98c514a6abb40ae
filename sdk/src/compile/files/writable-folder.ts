import { access, mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";

/**
 * Checks that files can be written to a folder, by making and removing a folder in it. If the folder does not exist, this
 * happens in the nearest folder above it that does. Commands call this function before any slow work.
 *
 * @throws BertEdgeError `out_unwritable`
 */
export async function assertWritableFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  const existing = await access(path).then(
    () => true,
    () => false,
  );
  if (!existing && path !== dirname(path)) return assertWritableFolder(dirname(path));
  try {
    await rmdir(await mkdtemp(join(path, ".bert-edge-")));
  } catch (cause) {
    throw new BertEdgeError("out_unwritable", `${path} cannot be written to.`, {
      hint: "Give a path in a folder that you may write to.",
      cause,
    });
  }
}
