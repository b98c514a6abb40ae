import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { nextTurn } from "../artifact/next-turn.ts";
import { lockOf } from "./file-lock.ts";

/** Age at which a lock counts as left by a killed process, in ms. */
const STALE_MS = 5_000;

/** A clock that stands still until a test moves it. Who sleeps lets others go on. */
function fakeClock() {
  const clock = {
    time: 0,
    /** Number of times that somebody has slept, after each look at a lock that is held. */
    sleeps: 0,
    now: () => clock.time,
    async sleep() {
      clock.sleeps++;
      await nextTurn();
    },
    /** Resolves when those who wait have slept `count` more times. */
    async slept(count: number) {
      const enough = clock.sleeps + count;
      while (clock.sleeps < enough) await nextTurn();
    },
  };
  return clock;
}

/** Counts who holds a lock at the same time. */
function holders(path: string, clock = fakeClock()) {
  const counts = { now: 0, most: 0, total: 0 };
  const hold = async (work: () => Promise<void> = nextTurn) => {
    await using _lock = await lockOf(path, clock);
    counts.most = Math.max(counts.most, ++counts.now);
    await work();
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
    const clock = fakeClock();
    const { counts, hold } = holders(path, clock);
    const all = Promise.all(
      Array.from({ length: 6 }, () => hold(() => (counts.total < 5 ? clock.slept(5) : nextTurn()))),
    );
    await clock.slept(12);
    clock.time = STALE_MS;
    await clock.slept(12);
    expect(counts).toEqual({ now: 0, most: 0, total: 0 });
    clock.time++;
    await all;
    expect(counts).toEqual({ now: 0, most: 1, total: 6 });
  }
  expect(await readdir(folder)).toEqual([]);
});

it("waits longer than a stale lock lasts while the holders change", async () => {
  const path = join(await temporaryFolder(), "file");
  const clock = fakeClock();
  const { counts, hold } = holders(path, clock);
  await Promise.all(
    Array.from({ length: 12 }, () =>
      hold(async () => {
        clock.time += 0.8 * STALE_MS;
        const waiting = 11 - counts.total;
        if (waiting > 0) await clock.slept(2 * waiting);
      }),
    ),
  );
  expect(counts).toEqual({ now: 0, most: 1, total: 12 });
});

it("a holder that was taken for killed does not free the lock of the next one", async () => {
  const path = join(await temporaryFolder(), "file");
  const clock = fakeClock();
  const slow = await lockOf(path, clock);
  const taking = lockOf(path, clock);
  await clock.slept(1);
  clock.time = STALE_MS + 1;
  const next = await taking;
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
