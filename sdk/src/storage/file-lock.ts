import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isAbsent } from "./absent.ts";

/** Time in ms after which a lock with the same owner counts as left by a killed process. Locks are held for a few milliseconds. */
const STALE_MS = 5_000;
const RETRY_MS = 5;

interface LockClock {
  /** Returns milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const realClock: LockClock = { now: () => performance.now(), sleep: setTimeout };

/**
 * Takes the lock of a file, which one process at a time can hold. Waits while another process holds the lock. Disposing the result
 * releases the lock.
 *
 * The lock is a folder beside the file. It contains one file, which is named after the owner. A process prepares such a folder and
 * renames it to the lock, which fails while the lock is not empty. Removing the owner's file releases the lock, so a process cannot
 * release the lock of another owner by mistake.
 */
export async function lockOf(path: string, { now, sleep } = realClock): Promise<AsyncDisposable> {
  const lock = `${path}.lock`;
  // `gc` recognizes the remains of locks by this ending.
  const owner = `${crypto.randomUUID()}.lock`;
  const prepared = `${path}.${owner}`;
  await mkdir(prepared);
  try {
    await writeFile(join(prepared, owner), "");
    let seen: { readonly other: string; readonly since: number } | undefined;
    while (!(await hasReplaced(lock, prepared))) {
      const [other] = await readdir(lock).catch(ifAbsent([]));
      if (other === undefined) {
        // Some file systems do not rename a folder over an empty one, so the empty one is removed first.
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

/** Renames the prepared folder to the lock. Returns false if another process holds the lock. */
async function hasReplaced(lock: string, prepared: string): Promise<boolean> {
  try {
    await rename(prepared, lock);
    return true;
  } catch (error) {
    if (TAKEN.has(Object(error).code)) return false;
    throw error;
  }
}

/** Error codes of file systems for renaming a folder over one that is not empty. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Releases the lock, if this owner still holds it. */
async function end(lock: string, owner: string): Promise<void> {
  await unlink(join(lock, owner)).catch(ifAbsent(undefined));
  // If another process has already taken the lock, the folder is not empty and stays.
  await rmdir(lock).catch(() => {});
}

const ifAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isAbsent(error)) return value;
    throw error;
  };
