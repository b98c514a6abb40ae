import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { lockOf } from "./file-lock.ts";

/** Counts who holds a lock at the same time. */
function holders(path: string, staleMs?: number) {
  const counts = { now: 0, most: 0, total: 0 };
  const hold = async (ms = 1) => {
    await using _lock = await lockOf(path, staleMs);
    counts.most = Math.max(counts.most, ++counts.now);
    await setTimeout(ms);
    counts.now--;
    counts.total++;
  };
  return { counts, hold };
}

/** Leaves the lock of a process that was killed. */
async function leaveLock(path: string): Promise<void> {
  await mkdir(`${path}.lock`);
  await writeFile(join(`${path}.lock`, "killed.lock"), "");
}

it("one holder at a time has the lock of a file", async () => {
  const folder = await temporaryFolder();
  const { counts, hold } = holders(join(folder, "file"));
  await Promise.all(Array.from({ length: 8 }, () => hold()));
  expect(counts).toEqual({ now: 0, most: 1, total: 8 });
  expect(await readdir(folder)).toEqual([]);
});

it("one of several waiters takes the lock that a killed process has left, and the others wait for it", async () => {
  const folder = await temporaryFolder();
  for (let round = 0; round < 5; round++) {
    const path = join(folder, `file-${round}`);
    await leaveLock(path);
    const { counts, hold } = holders(path, 100);
    await Promise.all(Array.from({ length: 6 }, () => hold(20)));
    expect(counts).toEqual({ now: 0, most: 1, total: 6 });
  }
  expect(await readdir(folder)).toEqual([]);
});

it("waits longer than a stale lock lasts while the holders change", async () => {
  const path = join(await temporaryFolder(), "file");
  const { counts, hold } = holders(path, 150);
  await Promise.all(Array.from({ length: 12 }, () => hold(40)));
  expect(counts).toEqual({ now: 0, most: 1, total: 12 });
});

it("a holder that was taken for killed does not free the lock of the next one", async () => {
  const path = join(await temporaryFolder(), "file");
  const slow = await lockOf(path, 20);
  const next = await lockOf(path, 20);
  await slow[Symbol.asyncDispose]();
  expect(await readdir(`${path}.lock`)).toHaveLength(1);
  await next[Symbol.asyncDispose]();
  await expect(readdir(`${path}.lock`)).rejects.toMatchObject({ code: "ENOENT" });
});

it("takes an empty lock at once: its owner was killed while it freed it", async () => {
  const path = join(await temporaryFolder(), "file");
  await mkdir(`${path}.lock`);
  await using lock = await lockOf(path);
  expect(lock).toBeDefined();
});

it("throws when there is no such folder", async () => {
  await expect(lockOf(join(await temporaryFolder(), "no", "file"))).rejects.toMatchObject({ code: "ENOENT" });
});
