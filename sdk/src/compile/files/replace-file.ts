import { rmSync } from "node:fs";
import { access, constants, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";

/** A model that is being made. */
export interface Draft {
  /** Where to write it. */
  readonly path: string;
  /** A folder for whatever else is needed meanwhile. */
  readonly folder: string;
  /** Puts it, with its external data, in its place. */
  publish(): Promise<void>;
}

/** What ends a process without its `finally`. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs `work` with a draft of the file `out`, which stays as it is until the draft is published. */
export async function replaceFile<T>(out: string, work: (draft: Draft) => Promise<T>): Promise<T> {
  const target = dirname(resolve(out));
  const folder = await mkdtemp(join(target, ".bert-edge-"));
  const path = join(folder, basename(out));
  const interrupted = (signal: NodeJS.Signals) => {
    rmSync(folder, { recursive: true, force: true });
    process.removeListener(signal, interrupted);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, interrupted);
  try {
    return await work({
      path,
      folder,
      async publish() {
        for (const name of [`${path}.data`, path]) {
          if (await exists(name)) await rename(name, join(target, basename(name)));
        }
      },
    });
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, interrupted);
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws BertEdgeError `out_unwritable`, before anything takes long */
export async function assertWritable(out: string): Promise<void> {
  const folder = dirname(resolve(out));
  const unwritable = (what: string, cause?: unknown) =>
    new BertEdgeError("out_unwritable", what, { hint: "Give the path of a file in a folder that exists.", cause });
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw unwritable(`${folder} cannot be written to.`, cause);
  });
  const isFolder = await stat(out).then(
    (found) => found.isDirectory(),
    () => out === "",
  );
  if (isFolder) throw unwritable(`${out || "An empty path"} is not a file.`);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
