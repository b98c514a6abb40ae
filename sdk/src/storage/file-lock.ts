import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isAbsent } from "./absent.ts";

/** A lock is held for a few milliseconds. One whose owner stays the same for longer was left by a process that was killed. */
const STALE_MS = 5_000;
const RETRY_MS = 5;

interface LockClock {
  /** Returns milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const realClock: LockClock = { now: () => performance.now(), sleep: setTimeout };

/**
 * Takes the lock of a file, which one process at a time can hold. Disposing the result frees it. Waits while another process holds it.
 *
 * The lock is a folder beside the file, which contains one file named for the owner. Only a folder that is empty or absent can be
 * replaced, by a folder that is complete. A lock ends when its owner's file is removed, so nobody ends the lock of somebody else
 * by mistake.
 */
export async function lockOf(path: string, { now, sleep } = realClock): Promise<AsyncDisposable> {
  const lock = `${path}.lock`;
  // `gc` removes what is left of locks by the end of its name.
  const owner = `${crypto.randomUUID()}.lock`;
  const prepared = `${path}.${owner}`;
  await mkdir(prepared);
  try {
    await writeFile(join(prepared, owner), "");
    let seen: { readonly other: string; readonly since: number } | undefined;
    while (!(await hasReplaced(lock, prepared))) {
      const [other] = await readdir(lock).catch(ifAbsent([]));
      if (other === undefined) {
        // Not every file system replaces an empty folder.
        await rmdir(lock).catch(() => {});
        continue;
      }
      if (other !== seen?.other) seen = { other, since: now() };
      if (now() - seen.since > STALE_MS) await end(lock, other);
      else await sleep(RETRY_MS);
    }
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    throw error;
  }
  return { [Symbol.asyncDispose]: () => end(lock, owner) };
}

/** Puts a folder in the place of a lock that is free. Returns whether it was. */
async function hasReplaced(lock: string, prepared: string): Promise<boolean> {
  try {
    await rename(prepared, lock);
    return true;
  } catch (error) {
    if (TAKEN.has(Object(error).code)) return false;
    throw error;
  }
}

/** Answers of file systems when a folder is to be replaced that is not empty. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Ends the lock of an owner, if it has not ended yet. */
async function end(lock: string, owner: string): Promise<void> {
  await unlink(join(lock, owner)).catch(ifAbsent(undefined));
  // Somebody else may have the lock already: then the folder is not empty.
  await rmdir(lock).catch(() => {});
}

const ifAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isAbsent(error)) return value;
    throw error;
  };
