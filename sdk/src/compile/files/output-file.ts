import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { assertWritableFolder, withWorkFolder } from "./folders.ts";

/**
 * Replaces a file, or makes it. A process that is killed meanwhile leaves the old content or the new content. The temporary file has a
 * name that nobody can guess, so that nobody can place a link there.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx", flush: true });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** An ONNX file that is written to a temporary folder first. */
interface OutputFile {
  /** Temporary path of the file. */
  readonly path: string;
  /** Folder for other temporary files. */
  readonly folder: string;
  /**
   * Moves the file and its external data to `out`. If `out` is undefined, returns the bytes of the file.
   *
   * @throws BertEdgeError `out_unwritable` when `out` is undefined, but the model needs a second file for its weights
   */
  publish(): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/**
 * Runs `work` with a file to write. The file at `out` stays as it is until `work` calls `publish`.
 *
 * @param out path of the result; undefined for a result in memory
 */
export async function withOutputFile<T>(out: string | undefined, work: (output: OutputFile) => Promise<T>): Promise<T> {
  const target = out === undefined ? tmpdir() : dirname(resolve(out));
  return withWorkFolder(target, (folder) => {
    const path = join(folder, out === undefined ? "output.onnx" : basename(out));
    async function publish(): Promise<Uint8Array<ArrayBuffer> | undefined> {
      if (out === undefined) return bytesOf(path);
      for (const name of [`${path}.data`, path]) {
        if (await exists(name)) await rename(name, join(target, basename(name)));
      }
      return undefined;
    }
    return work({ path, folder, publish });
  });
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!(await exists(`${path}.data`))) return new Uint8Array(await readFile(path));
  throw new BertEdgeError(
    "out_unwritable",
    "The model has more than 2 GB of weights, so it does not fit into one file in memory.",
    {
      hint: "Set `out` to write the model to disk.",
    },
  );
}

/**
 * Checks that a file can be written to `out`. Commands call this function before any slow work.
 *
 * @throws BertEdgeError `out_unwritable`
 */
export async function assertWritable(out: string | undefined): Promise<void> {
  if (out === undefined) return;
  const folder = dirname(resolve(out));
  const unwritable = (what: string) =>
    new BertEdgeError("out_unwritable", what, {
      hint: "Give a file path in a folder that exists and that you may write to.",
    });
  if (!(await exists(folder))) throw unwritable(`${folder} does not exist.`);
  await assertWritableFolder(folder);
  if (out === "") throw unwritable("The output path is empty.");
  const found = await stat(out).catch(() => undefined);
  if (found?.isDirectory()) throw unwritable(`${out} is a folder.`);
  // The result replaces the file at `out`, so it would not reach a device or the reader of a pipe.
  if (found && !found.isFile()) throw unwritable(`${out} is a pipe, a device or a socket.`);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
