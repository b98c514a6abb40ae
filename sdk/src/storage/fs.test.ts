import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { testAtomicPuts, testWritableStore } from "#test/suites/store-suite.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { fsStore } from "./fs.ts";
import { publish } from "./publish.ts";
import { readObject } from "./read-object.ts";
import { receive } from "./receive.ts";
import { verifyPublished } from "./versions.ts";

const octets = { contentType: "application/octet-stream" };

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

testWritableStore("fsStore", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-fs-"));
  folders.push(folder);
  return fsStore(folder);
});
testAtomicPuts("fsStore", async () => fsStore(await temporaryFolder()));

describe("fsStore", () => {
  it("never shows a partly written object while it is replaced again and again", async () => {
    const store = fsStore(await temporaryFolder());
    const size = 1_000_000;
    const write = (value: number) => store.put("object", new Uint8Array(size).fill(value), octets);
    const seen = new Set<number>();
    await write(0);
    let writing = true;
    const writer = (async () => {
      for (let turn = 1; seen.size < 20 && turn < 2000; turn++) await write(turn % 256);
      writing = false;
    })();
    while (writing) {
      const bytes = (await readObject(store, "object")) as Uint8Array;
      const first = bytes[0] as number;
      expect(bytes.length).toBe(size);
      expect(Buffer.compare(bytes, new Uint8Array(size).fill(first))).toBe(0);
      seen.add(first);
    }
    await writer;
    expect(seen.size).toBeGreaterThanOrEqual(20);
  });

  it("leaves no temporary files", async () => {
    const folder = await temporaryFolder();
    const store = fsStore(folder);
    await Promise.all([1, 2, 3].map((value) => store.put("a", Uint8Array.of(value), octets)));
    expect(await readdir(folder)).toEqual(["a"]);
  });

  it("lets gc remove the locks that killed publishers have left", async () => {
    const folder = await temporaryFolder();
    const store = fsStore(folder);
    await publish(await smallArtifact(), store);
    for (const lock of ["current.json.lock", "current.json.0.lock"]) {
      await mkdir(join(folder, "models/small", lock));
      await writeFile(join(folder, "models/small", lock, "0.lock"), "");
    }
    await collectGarbage(store, { olderThanMs: 0, now: Date.now() + 1000 });
    expect((await Array.fromAsync(store.list("models/"))).filter(({ key }) => key.endsWith(".lock"))).toEqual([]);
    expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
  });

  it.runIf(process.platform === "linux")(
    "closes every file after a complete read, an aborted read and an error",
    async () => {
      const folder = await temporaryFolder();
      const store = fsStore(folder);
      await store.put("large", new Uint8Array(1_000_000), octets);
      await mkdir(join(folder, "a-folder"));
      const open = async (below = folder) => {
        const links = await readdir("/proc/self/fd");
        const paths = await Promise.all(links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => "")));
        return paths.filter((path) => path.startsWith(below));
      };
      await receive(store, "large", async () => expect(await open()).toEqual([join(folder, "large")]));
      await expect(receive(store, "large", () => Promise.reject(new Error("enough")))).rejects.toThrow("enough");
      expect(await readObject(store, "a-folder")).toBeUndefined();
      await vi.waitFor(async () => expect(await open()).toEqual([]));

      // /proc/self/mem is a regular file whose first byte cannot be read.
      await expect(readObject(fsStore("/proc/self"), "mem")).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringContaining("EIO"),
      });
      expect(await open(`/proc/${process.pid}/mem`)).toEqual([]);
    },
  );

  it("names the file that cannot be written, and leaves no temporary file", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "taken/by-a-folder"), { recursive: true });
    await expect(fsStore(folder).put("taken", Uint8Array.of(1), octets)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining(`fs(${folder}) could not be read or written`),
      cause: expect.any(Error),
    });
    expect(await readdir(folder)).toEqual(["taken"]);
  });

  it("throws storage_unavailable for a name that is too long for the file system", async () => {
    const store = fsStore(await temporaryFolder());
    const key = "x".repeat(300);
    await expect(readObject(store, key)).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(store.head(key)).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});
