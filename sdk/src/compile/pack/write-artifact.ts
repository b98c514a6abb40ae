import { constants } from "node:fs";
import { cp, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_MANIFEST_BYTES } from "../../artifact/manifest.ts";
import { MEASUREMENTS_FILE, type Measurements } from "../../artifact/measurements.ts";
import { MANIFEST_FILE } from "../../storage/folder-artifact.ts";
import { assertWritableFolder } from "../files/folders.ts";
import { wholeText } from "../files/whole-file.ts";

/**
 * Copies an artifact folder to a temporary folder and then moves the copy to `out`. At any time, `out` therefore holds
 * either the complete old artifact or the complete new one.
 *
 * @throws BertEdgeError `out_occupied` if `out` holds files that are not part of an artifact; `out_unwritable`
 */
export async function writeArtifact(out: string, folder: string): Promise<void> {
  const target = resolve(out);
  await assertReplaceable(target);
  const temporary = join(dirname(target), `.${crypto.randomUUID()}.tmp`);
  await mkdir(dirname(target), { recursive: true });
  try {
    await cp(folder, temporary, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await replaceFolder(target, temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Checks that `out` is empty, missing or an artifact, and that the folder around it can be written to.
 *
 * @throws BertEdgeError `out_occupied` if `out` holds files that are not part of an artifact; `out_unwritable`
 */
export async function assertReplaceable(out: string): Promise<void> {
  const obstacle = await findObstacle(out);
  if (!obstacle) return assertWritableFolder(dirname(resolve(out)));
  throw new BertEdgeError("out_occupied", `${out} ${obstacle}.`, {
    hint: "Choose another folder with --out. Only an empty folder or an artifact can be replaced.",
  });
}

/** Replaces the measurements of an artifact folder. Leaves all other files unchanged. */
export async function writeMeasurements(folder: string, measurements: Measurements): Promise<void> {
  // The temporary file is next to the folder, not in it. After a crash, an additional file in the folder would make
  // `findObstacle` refuse to replace the artifact.
  const temporary = join(dirname(resolve(folder)), `.${crypto.randomUUID()}.tmp`);
  await writeFile(temporary, jsonBytes(measurements));
  await rename(temporary, join(folder, MEASUREMENTS_FILE));
}

/** Encodes manifest.json or measurements.json. */
export const jsonBytes = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

/**
 * The part of a manifest that is the same in all format versions: the beginning of `format`, and the names of the
 * artifact's files.
 */
const AnyManifest = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ format: v.pipe(v.string(), v.startsWith("bert-edge/")), files: v.record(v.string(), v.unknown()) }),
);

/**
 * Returns the reason why `target` must not be replaced; undefined if there is none. A folder with a manifest.json is
 * not always an artifact, because web apps have a manifest.json too.
 */
async function findObstacle(target: string): Promise<string | undefined> {
  let entries: string[];
  try {
    entries = await readdir(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") return (await isFile(target)) ? "is a file" : undefined;
    return "cannot be read";
  }
  const text = await wholeText(join(target, MANIFEST_FILE), MAX_MANIFEST_BYTES).catch(() => undefined);
  const manifest = v.safeParse(AnyManifest, text);
  const own = new Set(
    manifest.success ? [MANIFEST_FILE, MEASUREMENTS_FILE, ...Object.keys(manifest.output.files)] : [],
  );
  const foreign = entries.find((entry) => !own.has(entry));
  return foreign && `holds ${foreign}, which is not part of an artifact`;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Moves `replacement` to `target`. Restores the old `target` if the move fails. */
async function replaceFolder(target: string, replacement: string): Promise<void> {
  const old = `${replacement}.old`;
  await rename(target, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  try {
    await rename(replacement, target);
  } catch (error) {
    await rename(old, target).catch(() => {});
    throw error;
  }
  await rm(old, { recursive: true, force: true });
}
