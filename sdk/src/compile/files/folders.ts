import { rmSync } from "node:fs";
import { access, mkdir, mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { onInterrupt } from "./on-interrupt.ts";

/** Runs `work` with a temporary folder in `parent`. Removes the folder when the work ends, fails or is interrupted. */
export async function withWorkFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(parent, ".bert-edge-"));
  const cancel = onInterrupt(() => rmSync(folder, { recursive: true, force: true }));
  try {
    return await work(folder);
  } finally {
    cancel();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A model: the path of an ONNX file or a model folder, a model of the Hugging Face Hub (`organization/model`,
 * `organization/model@revision` or the address of its page), the bytes of an ONNX file, or the files of a model folder.
 * The keys of a map are paths relative to the folder.
 */
export type ModelInput = string | Uint8Array | ReadonlyMap<string, Uint8Array>;

/**
 * Returns the path of a model. A model in memory is first written to `folder`.
 *
 * @throws BertEdgeError `checkpoint_invalid` for a file whose path points outside of the model folder
 */
export async function modelPath(model: ModelInput, folder: string): Promise<string> {
  if (typeof model === "string") return model;
  if (model instanceof Uint8Array) {
    const path = join(folder, "input.onnx");
    await writeFile(path, model);
    return path;
  }
  const root = await mkdtemp(join(folder, "input-"));
  for (const [name, bytes] of model) {
    const path = resolve(root, name);
    if (relative(root, path).startsWith("..")) {
      throw new BertEdgeError(
        "checkpoint_invalid",
        `The file name ${JSON.stringify(name)} points outside of the model folder.`,
        {
          hint: "Use paths inside the model folder as file names, such as 1_Pooling/config.json.",
        },
      );
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
  return root;
}

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

/** Returns the folder of the user's caches. */
export function userCacheFolder(
  { LOCALAPPDATA, XDG_CACHE_HOME }: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === "win32") return LOCALAPPDATA || join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  // Paths in XDG_CACHE_HOME must be absolute: https://specifications.freedesktop.org/basedir-spec
  return XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
}
