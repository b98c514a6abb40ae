import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { MANIFEST_FILE } from "../../storage/folder-artifact.ts";

/**
 * Writes an artifact folder: into a temporary folder beside it first, so that `out` is the old artifact or the whole
 * new one, whatever happens.
 *
 * @throws BertEdgeError `out_occupied` when `out` holds something that is not part of an artifact
 */
export async function writeArtifact(
  out: string,
  manifest: Manifest,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const target = resolve(out);
  await assertReplaceable(target);
  const temporary = join(dirname(target), `.${crypto.randomUUID()}.tmp`);
  await mkdir(temporary, { recursive: true });
  try {
    for (const [name, bytes] of files) await writeFile(join(temporary, name), bytes);
    await writeFile(join(temporary, MANIFEST_FILE), formatManifest(manifest));
    await replaceFolder(target, temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** @throws BertEdgeError `out_occupied` when `out` holds something that is not part of an artifact */
export async function assertReplaceable(out: string): Promise<void> {
  const obstacle = await findObstacle(out);
  if (!obstacle) return;
  throw new BertEdgeError("out_occupied", `${out} ${obstacle}.`, {
    hint: "Choose another --out; only an earlier artifact is replaced.",
  });
}

/** Replaces only the manifest of an artifact. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const temporary = join(folder, `${MANIFEST_FILE}.${crypto.randomUUID()}.tmp`);
  await writeFile(temporary, formatManifest(manifest));
  await rename(temporary, join(folder, MANIFEST_FILE));
}

const formatManifest = (manifest: Manifest) => `${JSON.stringify(manifest, null, 2)}\n`;

/** What an artifact of any version has: enough to know which files are its own. */
const AnyManifest = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ format: v.pipe(v.string(), v.startsWith("bert-edge/")), files: v.record(v.string(), v.unknown()) }),
);

/** Why `target` must not be replaced: many things but artifacts have a manifest.json. */
async function findObstacle(target: string): Promise<string | undefined> {
  let entries: string[];
  try {
    entries = await readdir(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") return "is a file";
    throw error;
  }
  const text = await readFile(join(target, MANIFEST_FILE), "utf8").catch(() => undefined);
  const manifest = v.safeParse(AnyManifest, text);
  const own = new Set(manifest.success ? [MANIFEST_FILE, ...Object.keys(manifest.output.files)] : []);
  const foreign = entries.find((entry) => !own.has(entry));
  return foreign && `holds ${foreign}, which is not part of an artifact`;
}

/** Moves `replacement` to where `target` is or would be; if that fails, `target` stays as it is. */
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
