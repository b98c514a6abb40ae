import { execFileSync } from "node:child_process";
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { verifyPublished } from "#test/fixtures/verify-published.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { testAtomicPuts, testWritableStore } from "#test/suites/store-suite.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { fsStore } from "./fs.ts";
import { publish } from "./publish.ts";
import { receive } from "./receive.ts";

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
  it("reads under Yarn's Plug'n'Play, where a read without a length reads nothing", async () => {
    const store = fsStore(await temporaryFolder());
    await store.put("object", new Uint8Array([1, 2, 3]), octets);
    await using any = await open(import.meta.filename);
    const handles = Object.getPrototypeOf(any) as FileHandle;
    const { read } = handles;
    function readAsYarn(this: FileHandle, buffer: Uint8Array, offset = 0, length = 0) {
      return Reflect.apply(read, this, [buffer, offset, length, null]);
    }
    const spy = vi.spyOn(handles, "read").mockImplementation(readAsYarn as unknown as typeof read);
    onTestFinished(() => spy.mockRestore());
    expect(await readObject(store, "object")).toEqual(new Uint8Array([1, 2, 3]));
    expect(spy).toHaveBeenCalled();
  });

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
      await waitFor(async () => expect(await open()).toEqual([]));

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

  describe("with a folder that is a link out of the store", () => {
    const key = "blobs/sha256/a";
    const refused = { code: "storage_unavailable", message: expect.stringContaining("leads out of the store") };
    async function linked(link: string) {
      const [root, outside] = [await temporaryFolder(), await temporaryFolder()];
      await mkdir(join(outside, "sha256"));
      await writeFile(join(outside, "sha256/a"), "secret");
      await mkdir(join(root, link, ".."), { recursive: true });
      await symlink(outside, join(root, link));
      return { store: fsStore(root), outside };
    }
    const everythingIn = (folder: string) => readdir(folder, { recursive: true });

    it("writes and removes nothing there", async () => {
      const { store, outside } = await linked("blobs");
      await expect(store.put(key, Uint8Array.of(1), octets)).rejects.toMatchObject(refused);
      await expect(store.put("blobs/new/b", Uint8Array.of(1), octets)).rejects.toMatchObject(refused);
      await expect(store.remove(key)).rejects.toMatchObject(refused);
      expect(await readFile(join(outside, "sha256/a"), "utf8")).toBe("secret");
      expect((await everythingIn(outside)).sort()).toEqual(["sha256", "sha256/a"]);
    });

    it("lists nothing there, and does not pretend that there is nothing", async () => {
      for (const [link, prefix] of [
        ["blobs", "blobs/"],
        ["blobs", ""],
        ["models/small", "models/"],
        ["models/small", "models/small/"],
      ] as const) {
        const { store } = await linked(link);
        await expect(Array.fromAsync(store.list(prefix))).rejects.toMatchObject(refused);
      }
    });

    it("is neither published to nor cleaned", async () => {
      const { store, outside } = await linked("models/small");
      await expect(publish(await smallArtifact(), store)).rejects.toMatchObject(refused);
      const cleaned = await linked("blobs");
      await expect(collectGarbage(cleaned.store, { olderThanMs: 0, now: Date.now() + 1000 })).rejects.toMatchObject(
        refused,
      );
      for (const folder of [outside, cleaned.outside]) expect(await everythingIn(folder)).toHaveLength(2);
    });
  });

  it("works where the store itself is a link", async () => {
    const [folder, parent] = [await temporaryFolder(), await temporaryFolder()];
    await symlink(folder, join(parent, "store"));
    const store = fsStore(join(parent, "store"));
    await store.put("a/b", Uint8Array.of(1), octets);
    expect((await Array.fromAsync(store.list("a/"))).map(({ key }) => key)).toEqual(["a/b"]);
    expect(await store.remove("a/b")).toBe(true);
  });

  it("leaves files alone in gc that bert-edge has not written", async () => {
    const folder = await temporaryFolder();
    const store = fsStore(folder);
    const foreign = ["blobs/notes.txt", "blobs/sha256/readme", `blobs/sha256/${"a".repeat(65)}`, "blobs/x.tmp"];
    const ours = [`blobs/sha256/${"b".repeat(64)}`, `blobs/sha256/${"c".repeat(64)}.0.tmp`];
    for (const key of [...foreign, ...ours]) await store.put(key, Uint8Array.of(1), octets);
    expect(await collectGarbage(store, { olderThanMs: 0, now: Date.now() + 1000 })).toMatchObject({ objects: 2 });
    expect((await Array.fromAsync(store.list(""))).map(({ key }) => key).sort()).toEqual(foreign.sort());
  });

  it.skipIf(process.platform === "win32")("does not wait for the writer of a pipe: it is no object", async () => {
    const folder = await temporaryFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const store = fsStore(folder);
    expect(await store.open("pipe", AbortSignal.timeout(1000))).toBeUndefined();
    await store.put("pipe", Uint8Array.of(1), octets);
    expect(await readObject(store, "pipe")).toEqual(Uint8Array.of(1));
  });
});
