import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { sha256Hex } from "../../../../artifact/sha256.ts";
import { MAX_PAGE_READS } from "../../engine.ts";
import { type Pages, pageReader, rangesOf } from "./page-reader.ts";

const bytes = 10;
const file = Uint8Array.from({ length: 497 }, (_, i) => (i * 31) % 256);
const count = Math.ceil(file.length / bytes);
const partOf = (page: number) => file.subarray(page * bytes, (page + 1) * bytes);
const hashes = await Promise.all(Array.from({ length: count }, (_, page) => sha256Hex(partOf(page).slice())));

/** Pages of the file, whose ranges are noted. */
function pagesOf(changes: Partial<Pages> = {}) {
  const ranges: (readonly [number, number])[] = [];
  const read: Pages["read"] = async (begin, end) => {
    ranges.push([begin, end]);
    return file.slice(begin, end);
  };
  const pages: Pages = {
    bytes,
    size: file.length,

    hashOf: (page) => hashes[page] as string,
    read,
    ...changes,
  };
  return { ranges, read: pageReader(pages).read };
}

describe("rangesOf", () => {
  it("joins neighbours", () => {
    expect(rangesOf([7, 5, 6, 9, 5])).toEqual([
      [5, 7],
      [9, 9],
    ]);
    expect(rangesOf([])).toEqual([]);
  });
});

describe("pageReader", () => {
  it("returns the pages, whichever are asked for", async () => {
    const { read } = pagesOf();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(count - 1), { maxLength: 12 }), async (wanted) => {
        const found = await read(wanted);
        expect([...found.keys()].sort((a, b) => a - b)).toEqual([...new Set(wanted)].sort((a, b) => a - b));
        for (const [page, part] of found) expect(Buffer.compare(part, partOf(page))).toBe(0);
      }),
      seeded(100),
    );
  });

  it("reads a page once for all who want it at the same time", async () => {
    const { read, ranges } = pagesOf();
    const [first, second] = await Promise.all([read([3, 4]), read([4, 5])]);
    expect(first.get(4)).toEqual(second.get(4));
    expect(ranges).toEqual([
      [30, 50],
      [50, 60],
    ]);
    await read([4]);
    expect(ranges).toHaveLength(3);
  });

  it("reads at most six ranges at the same time, also for several callers and after failures", async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    let now = 0;
    const { read } = pagesOf({
      async read(begin, end) {
        most = Math.max(most, ++now);
        await new Promise<void>((resolve) => waiting.push(resolve));
        now--;
        if (begin === 40) throw new Error("the store is gone");
        return file.slice(begin, end);
      },
    });
    const even = Array.from({ length: 10 }, (_, i) => 2 * i);
    const all = Promise.allSettled([read(even), read(even.map((page) => page + 20)), read([4])]);
    let isDone = false;
    void all.then(() => {
      isDone = true;
    });
    while (!isDone) {
      await setImmediate();
      waiting.shift()?.();
    }
    expect((await all).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    expect(most).toBe(MAX_PAGE_READS);
  });

  it.each([
    ["a changed byte", (part: Uint8Array<ArrayBuffer>) => part.with(3, 1)],
    ["a byte too few", (part: Uint8Array<ArrayBuffer>) => part.subarray(0, part.length - 1)],
    ["a byte too many", (part: Uint8Array<ArrayBuffer>) => Uint8Array.from([...part, 0])],
    ["nothing", () => new Uint8Array()],
  ])("refuses %s, and reads again for the next caller", async (_, damage) => {
    let isDamaged = true;
    const { read } = pagesOf({
      read: async (begin, end) => (isDamaged ? damage(file.slice(begin, end)) : file.slice(begin, end)),
    });
    await expect(read([2])).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: expect.stringContaining("Page 2"),
    });
    isDamaged = false;
    expect((await read([2])).get(2)).toEqual(partOf(2));
  });

  it("fails when all its ranges have ended, so that nobody waits for a read of a request that is over", async () => {
    const slow = Promise.withResolvers<void>();
    const { read } = pagesOf({
      async read(begin, end) {
        if (begin === 20) throw new Error("the store is gone");
        await slow.promise;
        return file.slice(begin, end);
      },
    });
    let hasEnded = false;
    const failed = read([2, 8]).catch((error: Error) => {
      hasEnded = true;
      return error.message;
    });
    const other = read([8]);
    await setImmediate();
    expect(hasEnded).toBe(false);
    slow.resolve();
    expect(await failed).toBe("the store is gone");
    expect((await other).get(8)).toEqual(partOf(8));
  });

  it("reads again what another caller could not read", async () => {
    let reads = 0;
    const { read } = pagesOf({
      read: async (begin, end) => {
        if (++reads === 1) throw new Error("the store is gone");
        return file.slice(begin, end);
      },
    });
    const [first, second] = await Promise.allSettled([read([3]), read([3, 4])]);
    expect(first).toMatchObject({ status: "rejected" });
    expect(second).toMatchObject({ status: "fulfilled", value: expect.any(Map) });
    expect(reads).toBe(3);
  });

  it("does not wait forever for a read that never ends, and reads again for the next caller", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let hangs = true;
    const { read } = pagesOf({
      read: (begin, end) => (hangs ? new Promise(() => {}) : Promise.resolve(file.slice(begin, end))),
    });
    const all = Promise.allSettled([read([2]), read([4, 5, 8, 10, 12, 14, 16]), read([5, 30])]);
    // The last one reads again what it has not begun.
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await all).toMatchObject(Array(3).fill({ status: "rejected", reason: { code: "storage_unavailable" } }));
    hangs = false;
    expect((await read([2, 5, 30])).get(5)).toEqual(partOf(5));
  });
});
